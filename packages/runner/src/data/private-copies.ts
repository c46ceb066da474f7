import { isServiceError, type VolumeFiles } from '@sluice/client';
import {
  clusterOfAttempt,
  clustersOf,
  privateCopiesPath,
  privateCopyPath,
  readInputs,
  type SchedulerEvent,
} from '@sluice/run';
import type { Attempt } from '../session/attempt.ts';
import { CALL_BACKOFF, pause, type RunSession } from '../session/run-session.ts';
import { warn } from '../session/warn.ts';
import { copyInputs, type InputCopies } from './copy-inputs.ts';
import { hasPrivateCopy } from './create-mounts.ts';
import type { WorkspaceFiles } from './prepare-volumes.ts';

/** The copies to which attempts write instead of their inputs: created before the container, deleted after its end. */
export interface PrivateCopies {
  /**
   * Copies the inputs to which the attempt may write. Resolves to a message if it cannot; returns undefined if there is
   * nothing to copy. With `verify`, a copy is moved into place only after a successful verification, so that every copy
   * that is in place can be trusted.
   */
  make(attempt: Attempt, verify?: InputCopies['verify']): Promise<string | undefined> | undefined;
  onEvent(event: SchedulerEvent): void;
  /** Deletes all remaining copies at the end of the run. Returns undefined if the run never has any. */
  removeAll(): Promise<void> | undefined;
}

/** Attempts to delete remaining copies at the end of a run; after these, `sluice gc` deletes them. */
const REMOVAL_TRIES = 3;

/** Creates the copies through `workspace` of the attempt's cluster. */
export function createPrivateCopies(session: RunSession, workspace: WorkspaceFiles): PrivateCopies {
  const { plan, facts, runId, calls } = session;
  const hasCopies = plan.steps.map(({ step }) =>
    Object.values(step.inputs).some((input) => hasPrivateCopy(input, plan.pipeline)),
  );
  /** By the directory of an attempt's copies. */
  const making = new Map<string, Promise<unknown>>();
  /** The directories of attempts that have ended: nothing is copied for them any more. */
  const ended = new Set<string>();
  const removals = new Set<Promise<void>>();

  /** A copy that is still being made when its attempt ends is deleted when it is complete. */
  async function remove(key: string, clusterID: string): Promise<void> {
    await making.get(key)?.catch(() => {});
    making.delete(key);
    // If the copies cannot be deleted now, `removeAll` deletes them.
    await calls.add(() => workspace(clusterID).remove(key)).catch(() => {});
  }

  async function removeRemaining(): Promise<void> {
    await Promise.all(removals);
    for (const cluster of clustersOf(facts.header!)) await removeAllIn(session, workspace(cluster));
  }

  return {
    make(attempt, verify) {
      if (!hasCopies[attempt.at.step]) return undefined;
      const all = readInputs(session, attempt.at.step, attempt.at.cell);
      const inputs = all.filter(({ input }) => hasPrivateCopy(input, plan.pipeline));
      const key = privateCopyPath(attempt.name);
      const files = () => workspace(attempt.ref.clusterID);
      const made = copyInputs(session, { attempt, inputs, verify, files, hasEnded: () => ended.has(key) });
      making.set(key, made);
      ended.delete(key);
      return made;
    },
    onEvent(event) {
      if (event.type !== 'ended' || !hasCopies[event.step]) return;
      const { step } = plan.steps[event.step]!;
      const cell = facts.cells[event.step]?.[event.cell]?.key ?? '';
      const key = privateCopyPath({ runId, step: step.name, cell, attempt: event.attempt });
      ended.add(key);
      const removal = remove(key, clusterOfAttempt(facts, event)).finally(() => removals.delete(removal));
      removals.add(removal);
    },
    removeAll: () => (hasCopies.some((has) => has) ? removeRemaining() : undefined),
  };
}

async function removeAllIn(session: RunSession, files: VolumeFiles): Promise<void> {
  for (let tries = 1; ; tries++) {
    try {
      return await session.calls.add(() => files.remove(privateCopiesPath(session.runId)));
    } catch (error) {
      if (!isServiceError(error)) throw error;
      if (tries < REMOVAL_TRIES) {
        await pause(session, error.retryAfterMs ?? CALL_BACKOFF.initialMs);
        continue;
      }
      const message = `could not delete the private copies of run ${session.runId}: ${error.message}; sluice gc deletes them`;
      warn(session, message);
      return;
    }
  }
}
