import { backoffDelay, isServiceError, type VolumeFiles } from '@sluice/client';
import { privateCopiesPath, privateCopyPath } from '../record/layout.ts';
import { clusterOfAttempt } from '../record/place-of.ts';
import type { SchedulerEvent } from '../scheduler/model/event.ts';
import type { Attempt } from '../session/attempt.ts';
import { CALL_BACKOFF, pause, type RunSession } from '../session/run-session.ts';
import { hasPrivateCopy, inputMounts, type Mount } from './create-mounts.ts';
import type { WorkspaceFiles } from './prepare-volumes.ts';

/** Resolves to why copies cannot be used. */
type Verify = () => Promise<string | undefined>;

/** The copies that attempts write to in place of their inputs: made before the container, deleted after its end. */
export interface PrivateCopies {
  /**
   * Copies what the attempt may write to. Resolves to why it could not; undefined where nothing is to be copied. With
   * `verify`, a copy is in its place only when that has found nothing wrong: whoever finds it there can trust it.
   */
  make(attempt: Attempt, verify?: Verify): Promise<string | undefined> | undefined;
  onEvent(event: SchedulerEvent): void;
  /** Deletes what is left, also by earlier runners: the run is over. Undefined where nothing was ever copied. */
  removeAll(): Promise<void> | undefined;
}

/** Tries to delete what is left at the end of a run; `sluice gc` deletes what remains after them. */
const REMOVAL_TRIES = 3;

export function createPrivateCopies(session: RunSession, workspace: WorkspaceFiles): PrivateCopies {
  const { plan, facts, runId, calls } = session;
  const inputsOf = plan.steps.map(({ step }) =>
    Object.entries(step.inputs).filter(([, input]) => hasPrivateCopy(input, plan.pipeline)),
  );
  /** By the directory of an attempt's copies. */
  const making = new Map<string, Promise<unknown>>();
  /** Attempts that have ended: nothing is copied for them any more. */
  const ended = new Set<string>();
  const removals = new Set<Promise<void>>();

  function make(attempt: Attempt, verify?: Verify): Promise<string | undefined> | undefined {
    const inputs = inputsOf[attempt.at.step]!;
    if (inputs.length === 0) return undefined;
    const made = makeAll(attempt, { inputs, verify });
    const key = privateCopyPath(attempt.name);
    making.set(key, made);
    ended.delete(key);
    return made;
  }

  async function makeAll(
    attempt: Attempt,
    { inputs, verify }: { readonly inputs: (typeof inputsOf)[number]; readonly verify: Verify | undefined },
  ): Promise<string | undefined> {
    const stays = verify !== undefined;
    for (const [name, input] of inputs) {
      const mounts = inputMounts(session, input, attempt.ref.clusterID);
      const to = privateCopyPath(attempt.name, name);
      const fault = await untilDone(attempt, name, (files) => copyMounts(files, { mounts, at: input.path, to, stays }));
      if (fault !== undefined) return fault;
    }
    if (!verify) return undefined;
    const wrong = await verify();
    // Of a canceled attempt nothing is compared.
    if (wrong !== undefined || attempt.cancel) return wrong;
    for (const [name] of inputs) {
      const to = privateCopyPath(attempt.name, name);
      const fault = await untilDone(attempt, name, (files) => putInPlace(files, to));
      if (fault !== undefined) return fault;
    }
    return undefined;
  }

  /** Tries again for as long as the attempt has not ended. */
  async function untilDone(
    attempt: Attempt,
    name: string,
    act: (files: VolumeFiles) => Promise<void>,
  ): Promise<string | undefined> {
    const key = privateCopyPath(attempt.name);
    for (let tries = 1; ; tries++) {
      if (ended.has(key)) return undefined;
      try {
        await calls.add(() => act(workspace(attempt.ref.clusterID)));
        return undefined;
      } catch (error) {
        if (!isServiceError(error)) throw error;
        const message = `could not create a private copy of input ${name} of step ${attempt.name.step}: ${error.message}`;
        if (error.code === 'NOT_FOUND' || error.code === 'INVALID_ARGUMENT') return message;
        session.report({ type: 'warning', at: session.clock.now(), message });
        await pause(session, error.retryAfterMs ?? backoffDelay(CALL_BACKOFF, tries));
      }
    }
  }

  /** A copy that is still being made when its attempt ends is deleted when it is complete. */
  async function remove(key: string, clusterID: string): Promise<void> {
    await making.get(key)?.catch(() => {});
    making.delete(key);
    // What cannot be deleted now is deleted with everything else at the end of the run.
    await calls.add(() => workspace(clusterID).remove(key)).catch(() => {});
  }

  return {
    make,
    onEvent(event) {
      if (event.type !== 'ended' || inputsOf[event.step]!.length === 0) return;
      const { step } = plan.steps[event.step]!;
      const cell = facts.cells[event.step]?.[event.cell]?.key ?? '';
      const key = privateCopyPath({ runId, step: step.name, cell, attempt: event.attempt });
      ended.add(key);
      const removal = remove(key, clusterOfAttempt(facts, event)).finally(() => removals.delete(removal));
      removals.add(removal);
    },
    removeAll: () => (inputsOf.every((inputs) => inputs.length === 0) ? undefined : removeLeft()),
  };

  async function removeLeft(): Promise<void> {
    await Promise.all(removals);
    const { clusterID, placement } = facts.header!;
    for (const cluster of new Set([clusterID, ...Object.keys(placement?.accounts ?? {})])) {
      await removeRest(session, workspace(cluster));
    }
  }
}

async function removeRest(session: RunSession, files: VolumeFiles): Promise<void> {
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
      session.report({ type: 'warning', at: session.clock.now(), message });
      return;
    }
  }
}

/**
 * Copies what would be mounted, as one tree that is there whole or not at all. A copy that is there is left alone: it may
 * be in use. With `stays`, the copy stays beside its place.
 */
async function copyMounts(
  files: VolumeFiles,
  {
    mounts,
    at,
    to,
    stays,
  }: { readonly mounts: readonly Mount[]; readonly at: string; readonly to: string; readonly stays: boolean },
): Promise<void> {
  if (await files.stat(to)) return;
  const [whole, ...cells] = mounts;
  if (whole === undefined) return;
  const target = cells.length === 0 && !stays ? to : partOf(to);
  if (cells.length > 0) await files.remove(target);
  await copyMount(files, whole, target);
  for (const cell of cells) await copyMount(files, cell, target + cell.at.slice(at.length));
  if (!stays && target !== to) await files.move(target, to);
}

/** Where a copy lies that is not complete, or that nobody has verified: no input has a dot in its name. */
function partOf(to: string): string {
  return `${to}.part`;
}

async function putInPlace(files: VolumeFiles, to: string): Promise<void> {
  if (!(await files.stat(to))) await files.move(partOf(to), to);
}

async function copyMount(files: VolumeFiles, { path, create }: Mount, to: string): Promise<void> {
  try {
    await files.copy(path, to);
  } catch (error) {
    if (isServiceError(error, 'ALREADY_EXISTS')) return;
    // Of a step that was skipped or may fail nothing is published: its dependents find an empty directory.
    if (!create || !isServiceError(error, 'NOT_FOUND')) throw error;
    await files.makeDirectory(to);
  }
}
