import { describeMiss, describeStatus, explainCell, type PlaceDifference, statusOfCell } from '@sluice/run';
import type { CellPair, ComparableRun, RunPair } from './comparable-run.ts';

/** Whether one run has not executed a cell that the other has, in words; undefined if both have, or neither. */
export function describeSkips({ before, after }: RunPair, { old, now }: CellPair): string | undefined {
  const [was, is] = [notDone(before, old), notDone(after, now)];
  if (is !== undefined && was === undefined) return `${is} in run ${after.runId}, but not in run ${before.runId}`;
  if (was !== undefined && is === undefined) return `${was} in run ${before.runId}, but not in run ${after.runId}`;
  return undefined;
}

function notDone({ source }: ComparableRun, { step, cell }: CellPair['now']): string | undefined {
  const state = source.scheduler.state(step, cell);
  const isDone = state !== 'skipped' && (state !== 'canceled' || hasAttempt(source, step, cell));
  if (isDone) return undefined;
  const why = explainCell(source, step, cell);
  return `was ${state}${why === undefined ? '' : ` (${why})`}`;
}

function hasAttempt({ facts }: ComparableRun['source'], step: number, cell: number): boolean {
  return (facts.known[step]?.[cell]?.attempts.length ?? 0) > 0;
}

/** The verdict on a cell that has done the same work in both runs. */
export function describeUnchanged(
  runs: RunPair,
  pair: CellPair,
  name: string,
): Pick<PlaceDifference, 'verdict' | 'message'> {
  const { before, after } = runs;
  const done = `${name} did the same work in both runs`;
  const [was, is] = [statusOf(before, pair.old), statusOf(after, pair.now)];
  const hasEnded = is.status === 'succeeded' && was.status === 'succeeded';
  if (!hasEnded) {
    const [now, earlier] = [describeStatus(is), describeStatus(was)];
    const status =
      now === earlier
        ? `its status is ${now} in both`
        : `its status is ${now} in run ${after.runId}, and ${earlier} in run ${before.runId}`;
    return { verdict: 'repeated', message: `${done}; ${status}` };
  }
  if (before.identity(pair.old) === after.identity(pair.now))
    return { verdict: 'same', message: describeReuse(runs, pair, done) };
  return { verdict: 'repeated', message: describeRepetition(after, pair.now, done) };
}

function statusOf({ source }: ComparableRun, { step, cell }: CellPair['now']) {
  return statusOfCell(source, step, cell);
}

function describeReuse({ before, after }: RunPair, { old, now }: CellPair, done: string): string {
  const [was, is] = [cachedOf(before, old), cachedOf(after, now)];
  if (is?.runId === before.runId) return `${done}; run ${after.runId} reuses the result of run ${before.runId}`;
  if (was?.runId === after.runId) return `${done}; run ${before.runId} reuses the result of run ${after.runId}`;
  return is === undefined ? done : `${done}; both have the result of run ${is.runId}`;
}

function describeRepetition(after: ComparableRun, now: CellPair['now'], done: string): string {
  const cached = cachedOf(after, now);
  if (cached !== undefined) return `${done}, but run ${after.runId} has the result of run ${cached.runId}`;
  const { service, approval, cache } = after.step(now.step);
  const again = `${done}, but run ${after.runId} executed it again`;
  if (service !== undefined) return `${again}: it is a service`;
  if (approval !== undefined) return `${done}, but run ${after.runId} asked for approval again`;
  const { facts } = after.source;
  const missed = facts.known[now.step]?.[now.cell]?.missed;
  if (missed !== undefined) return `${again}: ${describeMiss(missed.reason)}`;
  const isLookedUp = cache !== undefined || facts.header?.reuse !== undefined;
  return isLookedUp ? again : `${again}: the step does not set cache, and the run reuses no other`;
}

function cachedOf({ source }: ComparableRun, { step, cell }: CellPair['now']) {
  return source.facts.known[step]?.[cell]?.cached;
}
