import { useRef } from 'preact/hooks';
import type { LiveRun } from '../live/open-run.ts';
import { type ChangeHistory, countUntil, type Replay, replayHistory } from '../model/change-history.ts';
import type { RunModel } from '../model/run-model.ts';

/**
 * The states of a run at a time in milliseconds; undefined without a time, and until the whole history is loaded: the cells
 * that it mentions last would be missing. A later time continues from the one before.
 */
export function useModelAt(
  { history, isHistoryComplete }: Pick<LiveRun, 'history' | 'isHistoryComplete'>,
  at: number | undefined,
): RunModel | undefined {
  const replay = useRef<{ history: ChangeHistory; replay: Replay }>(undefined);
  if (at === undefined || history === undefined || !isHistoryComplete) return undefined;
  const previous = replay.current?.history === history ? replay.current.replay : undefined;
  const next = replayHistory(history, countUntil(history, at), previous);
  replay.current = { history, replay: next };
  return next.model;
}
