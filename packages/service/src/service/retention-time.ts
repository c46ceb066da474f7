import type { Logger } from 'pino';
import type { Clock } from '../protocol/clock.ts';
import { put, type Store } from '../store/store.ts';
import { TABLES } from '../store/tables.ts';

/** How far the clock may jump, and how long it must then be steady to be trusted. */
const DAY_MS = 86_400_000;

/** The observations of the clock, in milliseconds. */
export interface ClockRecord {
  /** The time that removals use; never later than the clock. */
  readonly retentionTime: number;
  /** The clock at the last observation. */
  readonly seenTime: number;
  /** How long this or an earlier process has seen the clock without a jump. */
  readonly steadyMs: number;
}

/**
 * Observes the clock `ranMs` after the last observation; 0 if that was made by an earlier process. Removals follow the clock
 * unless it is more than a day ahead of the time that has passed. Then they wait until it was steady for a day.
 */
export function observeClock(last: ClockRecord | undefined, now: number, ranMs: number): ClockRecord {
  if (last === undefined) return { retentionTime: now, seenTime: now, steadyMs: 0 };
  const hasJumped = Math.abs(now - last.seenTime - ranMs) > DAY_MS;
  const steadyMs = hasJumped ? 0 : Math.min(DAY_MS, last.steadyMs + ranMs);
  const passed = last.retentionTime + ranMs;
  const isBelieved = now - passed <= DAY_MS || steadyMs >= DAY_MS;
  return { retentionTime: isBelieved ? now : passed, seenTime: now, steadyMs };
}

/** The time that every removal by age uses, so that a wrong clock removes nothing. */
export interface RetentionTime {
  /** Milliseconds since the Unix epoch, as of the last observation. */
  now(): number;
  /** Records that `ranMs` have passed since the last observation of this process. */
  observe(ranMs: number): void;
}

/** Continues the record of earlier processes. */
export function openRetentionTime({
  store,
  clock,
  log,
}: {
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Logger;
}): RetentionTime {
  let record = read(store);
  let isHeld = false;
  const observe = (ranMs: number) => {
    record = observeClock(record, clock.now(), ranMs);
    const changes = Object.entries(record).map(([name, value]) => put(TABLES.meta, name, value));
    if (store.failure === undefined) store.write(changes, { canWait: true });
    const { retentionTime, seenTime } = record;
    const wasHeld = isHeld;
    isHeld = retentionTime < seenTime;
    if (isHeld && !wasHeld) {
      const [believed, shown] = [retentionTime, seenTime].map((time) => new Date(time).toISOString());
      log.warn(
        { believed, clock: shown },
        'the clock is more than a day ahead of the last time seen, so nothing is removed for its age until it was steady for 24 hours; correct it if it is wrong',
      );
    } else if (wasHeld && !isHeld) log.info('the clock is plausible again; what is due is removed');
  };
  observe(0);
  return { now: () => record!.retentionTime, observe };
}

function read(store: Store): ClockRecord | undefined {
  const [retentionTime, seenTime, steadyMs] = (['retentionTime', 'seenTime', 'steadyMs'] as const).map((name) =>
    store.get(TABLES.meta, name),
  );
  if (retentionTime === undefined || seenTime === undefined || steadyMs === undefined) return undefined;
  return { retentionTime, seenTime, steadyMs };
}
