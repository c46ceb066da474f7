import { backoffDelay, FEATURES, type InstanceType, isServiceError } from '@sluice/client';
import { clusterOfAttempt, clustersOf, type SchedulerEvent } from '@sluice/run';
import { announcesFeature } from '../placement/announces-feature.ts';
import type { Attempt } from '../session/attempt.ts';
import { CALL_BACKOFF, pause, type RunSession } from '../session/run-session.ts';
import { warn } from '../session/warn.ts';
import { openTreeStates } from '../trees/tree-states.ts';
import { type InputTree, listInputTrees } from './input-trees.ts';
import type { WorkspaceFiles } from './prepare-volumes.ts';
import { createTreeWatch, type TreeWatch } from './tree-watch.ts';

/**
 * Protects inputs on clusters that cannot mount read-only. Each tree is compared with its state before a container first
 * mounted it. A changed tree is not mounted again, and the outputs of attempts that mounted it are not published.
 */
export interface InputGuard {
  /** Whether the attempts of a cell read any tree on a cluster that has to be compared. */
  isNeeded(at: CellPlace, clusterID: string): boolean;
  /** To be called before an attempt starts. Resolves to a message if it must not start. */
  admit(attempt: Attempt): Promise<string | undefined>;
  /** To be called between creating and verifying an attempt's private copies. Resolves to a message if they are invalid. */
  checkCopies(attempt: Attempt): Promise<string | undefined>;
  /** To be called before an attempt is published. Resolves to a message if it must not be. Throws `ServiceError`. */
  check(at: Attempt['at']): Promise<string | undefined>;
  onEvent(event: SchedulerEvent): void;
}

/** A cell whose inputs are compared. */
type CellPlace = Pick<Attempt['at'], 'step' | 'cell'>;

/** A tree that a step reads, with its comparison. */
interface Read {
  readonly tree: InputTree;
  readonly watch: TreeWatch;
}

/** Trees are watched per run: all attempts that mount a tree share its comparisons. */
export function createInputGuard(
  session: RunSession,
  { workspace, instanceTypes }: { readonly workspace: WorkspaceFiles; readonly instanceTypes: readonly InstanceType[] },
): InputGuard {
  const { facts, runId, disk, home } = session;
  const states = openTreeStates({ disk, home, runId });
  const watches = new Map<string, TreeWatch>();
  const guarded = findWritableClusters(session, instanceTypes);

  function reads(at: CellPlace, clusterID: string): Read[] {
    if (!guarded.has(clusterID)) return [];
    return listInputTrees(session, at, clusterID).map((tree) => {
      const key = `${tree.volumeID}:${tree.path}`;
      const watch = watches.get(key) ?? createTreeWatch(session, { tree, states, files: workspace(clusterID) });
      watches.set(key, watch);
      return { tree, watch };
    });
  }

  /** Retries if the service does not answer, until the attempt is canceled. */
  async function findChange(attempt: Attempt, look: () => Promise<Read | undefined>): Promise<string | undefined> {
    for (let tries = 1; !attempt.cancel; tries++) {
      try {
        const changed = await look();
        return changed && describeRejection(changed);
      } catch (error) {
        if (!isServiceError(error)) throw error;
        const message = `could not compare the inputs of step ${attempt.name.step}: ${error.message}`;
        warn(session, message);
        await pause(session, error.retryAfterMs ?? backoffDelay(CALL_BACKOFF, tries));
      }
    }
    return undefined;
  }

  return {
    isNeeded: (at, clusterID) => reads(at, clusterID).length > 0,
    admit(attempt) {
      const open = reads(attempt.at, attempt.ref.clusterID);
      return findChange(attempt, () => first(open, (watch) => watch.admit()));
    },
    checkCopies(attempt) {
      const copied = reads(attempt.at, attempt.ref.clusterID).filter(({ tree }) => tree.isCopied);
      return findChange(attempt, () => first(copied, (watch) => watch.compare()));
    },
    async check(at) {
      const open = reads(at, clusterOfAttempt(facts, at)).filter(({ tree }) => !tree.isCopied);
      const changed = await first(open, (watch) => watch.compare());
      return changed && describeChange(changed);
    },
    onEvent(event) {
      if (event.type !== 'ended' || guarded.size === 0) return;
      for (const { watch } of reads(event, clusterOfAttempt(facts, event))) watch.suspect();
    },
  };
}

/** The run's clusters that cannot mount read-only. */
function findWritableClusters({ facts }: RunSession, instanceTypes: readonly InstanceType[]): ReadonlySet<string> {
  return new Set(
    clustersOf(facts.header!).filter(
      (clusterID) => !announcesFeature(FEATURES.readOnlyMounts, { instanceTypes, clusterID }),
    ),
  );
}

async function first(
  reads: readonly Read[],
  findChange: (watch: TreeWatch) => Promise<string | undefined>,
): Promise<Read | undefined> {
  for (const read of reads) if ((await findChange(read.watch)) !== undefined) return read;
  return undefined;
}

function describeChange({ tree, watch }: Read): string {
  return (
    `input ${tree.input} (${tree.from}) was changed while the attempt ran: ${watch.change}; ` +
    `set \`writable: true\` on the input, so that each attempt writes to a private copy`
  );
}

function describeRejection({ tree, watch }: Read): string {
  return (
    `could not start on input ${tree.input} (${tree.from}): an earlier attempt changed it: ${watch.change}; ` +
    `set \`writable: true\` on the input of the step that writes to it, and start a new run to recreate the data`
  );
}
