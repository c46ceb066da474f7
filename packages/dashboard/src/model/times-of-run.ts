import type { RunDetails } from '@sluice/host';
import { beganAt } from './began-at.ts';
import type { ChangeHistory } from './change-history.ts';

/** The times that a replay of a run can show, in milliseconds since the Unix epoch. */
export interface RunTimes {
  readonly startedAt: number;
  /** The end of the run, or the present; of a suspended run, when something last happened. */
  readonly end: number;
}

/** The times of a run. `now`: the present, if the run is running. */
export function timesOfRun(details: RunDetails, history: ChangeHistory | undefined, now: number | undefined): RunTimes {
  const startedAt = beganAt(details);
  return { startedAt, end: Math.max(startedAt, now ?? lastTime(details, history)) };
}

function lastTime({ endedAt, ...details }: RunDetails, history: ChangeHistory | undefined): number {
  if (endedAt !== undefined) return Date.parse(endedAt);
  return history?.at.at(-1) ?? beganAt(details);
}
