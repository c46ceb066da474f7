import { backoffDelay, FEATURES, type InstanceType, isServiceError } from '@sluice/client';
import { announcesFeature } from '../placement/announces-feature.ts';
import { clusterOfAttempt } from '../record/place-of.ts';
import type { SchedulerEvent } from '../scheduler/model/event.ts';
import type { Attempt } from '../session/attempt.ts';
import { CALL_BACKOFF, pause, type RunSession } from '../session/run-session.ts';
import { openTreeStates } from '../trees/tree-states.ts';
import { type InputTree, listInputTrees } from './input-trees.ts';
import type { WorkspaceFiles } from './prepare-volumes.ts';
import { createTreeWatch, type TreeWatch } from './tree-watch.ts';

/**
 * Protects inputs on clusters that cannot mount them read-only: each tree is compared with how it was before a container
 * was first given it. What has changed is never given to another container, and what was made of it is not published.
 */
export interface InputGuard {
  /** Whether the attempts of a step read anything on a cluster that has to be compared. */
  isNeeded(step: number, clusterID: string): boolean;
  /** Before an attempt starts. Resolves to why it must not. */
  admit(attempt: Attempt): Promise<string | undefined>;
  /** After the attempt's private copies are made, before they are in their places. Resolves to why they cannot be used. */
  checkCopies(attempt: Attempt): Promise<string | undefined>;
  /** Before what the attempt made is published. Resolves to why it must not be; throws `ServiceError`. */
  check(at: Attempt['at']): Promise<string | undefined>;
  onEvent(event: SchedulerEvent): void;
}

/** A tree as a step names it, and what is known of it. */
interface Read {
  readonly tree: InputTree;
  readonly watch: TreeWatch;
}

export function createInputGuard(
  session: RunSession,
  { workspace, instanceTypes }: { readonly workspace: WorkspaceFiles; readonly instanceTypes: readonly InstanceType[] },
): InputGuard {
  const { facts, runId, disk, home } = session;
  const states = openTreeStates({ disk, home, runId });
  const watches = new Map<string, TreeWatch>();
  const { clusterID: own, placement } = facts.header!;
  const guarded = new Set(
    [own, ...Object.keys(placement?.accounts ?? {})].filter(
      (clusterID) => !announcesFeature(FEATURES.readOnlyMounts, { instanceTypes, clusterID }),
    ),
  );

  function reads(step: number, clusterID: string): Read[] {
    if (!guarded.has(clusterID)) return [];
    return listInputTrees(session, step, clusterID).map((tree) => {
      const key = `${tree.volumeID}:${tree.path}`;
      const watch = watches.get(key) ?? createTreeWatch(session, { tree, states, files: workspace(clusterID) });
      watches.set(key, watch);
      return { tree, watch };
    });
  }

  /** Asks again where the service does not answer, until the attempt is canceled. */
  async function findChange(attempt: Attempt, look: () => Promise<Read | undefined>): Promise<string | undefined> {
    for (let tries = 1; !attempt.cancel; tries++) {
      try {
        const changed = await look();
        return changed && describeRefusal(changed);
      } catch (error) {
        if (!isServiceError(error)) throw error;
        const message = `could not compare the inputs of step ${attempt.name.step}: ${error.message}`;
        session.report({ type: 'warning', at: session.clock.now(), message });
        await pause(session, error.retryAfterMs ?? backoffDelay(CALL_BACKOFF, tries));
      }
    }
    return undefined;
  }

  return {
    isNeeded: (step, clusterID) => reads(step, clusterID).length > 0,
    admit(attempt) {
      const open = reads(attempt.at.step, attempt.ref.clusterID);
      return findChange(attempt, () => first(open, (watch) => watch.admit()));
    },
    checkCopies(attempt) {
      const copied = reads(attempt.at.step, attempt.ref.clusterID).filter(({ tree }) => tree.isCopied);
      return findChange(attempt, () => first(copied, (watch) => watch.compare()));
    },
    async check(at) {
      const open = reads(at.step, clusterOfAttempt(facts, at)).filter(({ tree }) => !tree.isCopied);
      const changed = await first(open, (watch) => watch.compare());
      return changed && describeBlame(changed);
    },
    onEvent(event) {
      if (event.type !== 'ended' || guarded.size === 0) return;
      for (const { watch } of reads(event.step, clusterOfAttempt(facts, event))) watch.suspect();
    },
  };
}

async function first(
  reads: readonly Read[],
  findChange: (watch: TreeWatch) => Promise<string | undefined>,
): Promise<Read | undefined> {
  for (const read of reads) if ((await findChange(read.watch)) !== undefined) return read;
  return undefined;
}

function describeBlame({ tree, watch }: Read): string {
  return (
    `input ${tree.input} (${tree.from}) was changed while the attempt ran: ${watch.change}; ` +
    `set \`writable: true\` on the input, so that each attempt writes to a private copy`
  );
}

function describeRefusal({ tree, watch }: Read): string {
  return (
    `could not start on input ${tree.input} (${tree.from}): an earlier attempt changed it: ${watch.change}; ` +
    `set \`writable: true\` on the input of the step that writes to it, and start a new run to recreate the data`
  );
}
