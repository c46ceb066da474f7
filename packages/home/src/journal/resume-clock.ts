import { type JournalRecord, timeOfRecord } from '@sluice/run';
import type { Clock } from '../clock.ts';

/** The elapsed time may contradict the last record by this much, since the uptime is coarse. */
const TOLERANCE_MS = 1_000;

/**
 * The clock of a run that an earlier process has left. It continues from the run's last record by the time that has
 * passed since, as far as that is known. Within one boot, this is measured by the machine's uptime, even if its clock
 * was set. After a reboot or on another machine, it is the difference of the two wall clocks: the run's time never goes
 * back, but a clock that was set forward cannot be distinguished from elapsed time.
 */
export function resumeClock(clock: Clock, records: readonly JournalRecord[]): Clock {
  const last = findLastTime(records);
  if (last === undefined) return clock;
  const ahead = (elapsedTo(clock, records, last) ?? Math.max(clock.now(), last)) - clock.now();
  return {
    now: () => clock.now() + ahead,
    wall: () => clock.wall(),
    boot: () => clock.boot(),
    setTimer: (at, callback) => clock.setTimer(at - ahead, callback),
    defer: (callback) => clock.defer(callback),
  };
}

/** The present time of the run, computed from the uptime of the machine. */
function elapsedTo(clock: Clock, records: readonly JournalRecord[], last: number): number | undefined {
  const opened = records.findLast((record) => record.kind === 'opened');
  const boot = clock.boot();
  if (opened?.boot === undefined || boot === undefined || opened.boot.id !== boot.id) return undefined;
  const now = opened.at + boot.uptimeMs - opened.boot.uptimeMs;
  // A container may have an uptime of its own: one that contradicts the journal is ignored.
  return now < last - TOLERANCE_MS ? undefined : Math.max(last, Math.floor(now));
}

/** The time of the last record that has one. */
export function findLastTime(records: readonly JournalRecord[]): number | undefined {
  for (let index = records.length - 1; index >= 0; index--) {
    const at = timeOfRecord(records[index]!);
    if (at !== undefined) return at;
  }
  return undefined;
}
