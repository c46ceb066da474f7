import type { PostponeReason } from '../scheduler/model/event.ts';
import type { WaitReason } from '../scheduler/model/wait-reason.ts';

/** Returns a command line to be shown to the user, from the arguments of `sluice`. */
export type SuggestCommand = (words: readonly string[]) => string;

/** `sluice` and the arguments, unquoted. */
export function suggestPlainly(words: readonly string[]): string {
  return ['sluice', ...words].join(' ');
}

/** What the user can do about a wait; undefined if there is nothing to do but wait. */
export function advise(
  wait: WaitReason,
  { runId, step, suggest }: { runId: string; step: string; suggest: SuggestCommand },
): string | undefined {
  switch (wait.kind) {
    case 'dependency':
      return wait.steps.length === 1 ? suggest(['why', '-r', runId, wait.steps[0]!]) : undefined;
    case 'approval':
      return `answer it: ${suggest(['approve', '-r', runId, step])}, or ${suggest(['reject', '-r', runId, step])}`;
    case 'parallelism':
      return 'the pipeline may allow more at once: parallelism in the file, --parallelism on the command line';
    case 'items':
      return 'the axis may have more items in progress: its parallelism in the file';
    case 'stepParallelism':
      return 'the step may allow more of its cells at once: parallelism in the file';
    case 'pool':
      return wait.needed > wait.size
        ? `it asks for more than pool ${wait.pool} has: make the pool larger, or the request smaller`
        : `${suggest(['show', runId])} lists what runs; a larger pool ${wait.pool} lets more of it run at once`;
    case 'postponed':
      return wait.reason === 'pool'
        ? `${suggest(['runs'])} lists the runs of this home; the pool is free when those that hold it end`
        : ADVICE[wait.reason];
    default:
      return undefined;
  }
}

const ADVICE: Readonly<Record<Exclude<PostponeReason, 'pool'>, string>> = {
  quota: 'other containers of the account must end first, or its quota be raised',
  throttled: 'nothing to do: the calls are spread out',
  volume: 'the volume must become Available at the service; a deleted one can be undeleted there',
  unavailable: 'see that the service is up and can be reached from here; nothing is lost meanwhile',
  storage: 'the operator of the service must free disk space; the run then continues',
  placement: 'name more clusters in placement, or ask for less in resources',
};
