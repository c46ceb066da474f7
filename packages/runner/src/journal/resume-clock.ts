import type { Clock } from '../clock.ts';
import type { JournalRecord } from './journal-record.ts';

/** The computation of the elapsed time and the last record may differ by so much: the uptime is told coarsely. */
const TOLERANCE_MS = 1_000;

/**
 * The clock of a run that an earlier process has left: it goes on from the run's last record by the time that has passed
 * since, as far as that can be known. Since the same boot, the machine's uptime tells it, whatever became of its clock.
 * After another boot or on another machine only the two clocks can: then it never goes back, and a clock that was set
 * forwards in between cannot be told from time that has passed.
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

/** What time it is for the run, by the uptime of the machine. */
function elapsedTo(clock: Clock, records: readonly JournalRecord[], last: number): number | undefined {
  const opened = records.findLast((record) => record.kind === 'opened');
  const boot = clock.boot();
  if (opened?.boot === undefined || boot === undefined || opened.boot.id !== boot.id) return undefined;
  const now = opened.at + boot.uptimeMs - opened.boot.uptimeMs;
  // A container may be told an uptime of its own: one that contradicts the journal says nothing.
  return now < last - TOLERANCE_MS ? undefined : Math.max(last, Math.floor(now));
}

function findLastTime(records: readonly JournalRecord[]): number | undefined {
  for (let index = records.length - 1; index >= 0; index--) {
    const record = records[index]!;
    if (record.kind === 'event') return record.event.at;
    if ('at' in record) return record.at;
  }
  return undefined;
}
