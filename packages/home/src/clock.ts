import { uptime } from 'node:os';
import { readBootId } from '@sluice/host-system';
import type { BootTime } from '@sluice/run';
import { deferInTurn } from './defer-in-turn.ts';

/**
 * The only source of time in the shell, so that a simulation can run it in virtual time. Times are in milliseconds since
 * the Unix epoch. Timers may fire late, never early.
 */
export interface Clock {
  /**
   * The time for everything within one process. It starts at the machine's clock and then counts elapsed time, including
   * the time that the machine is suspended. Setting the machine's clock does not change it.
   */
  now(): number;
  /**
   * The machine's clock, which may jump. Only for calendar times and for times that other processes compare with their
   * own.
   */
  wall(): number;
  /** The machine's boot and its uptime; undefined if they are unknown. */
  boot(): BootTime | undefined;
  /** Calls `callback` once when `now()` has reached `at`, or later. The returned function cancels the timer. */
  setTimer(at: number, callback: () => void): () => void;
  /**
   * Calls `callback` at the end of the present turn of the event loop, so that one batch handles all events of a turn. If other
   * deferred work takes long, it is called at the end of a later turn.
   */
  defer(callback: () => void): void;
}

/** Resolves after `ms` by the given clock. */
export function sleep(clock: Pick<Clock, 'now' | 'setTimer'>, ms: number): Promise<void> {
  return new Promise((resolve) => {
    clock.setTimer(clock.now() + ms, resolve);
  });
}

/** Node's timers do not count the time that the machine is suspended: long waits are checked again at this interval. */
const LONGEST_WAIT_MS = 60_000;
/** The interval of checks for a suspension, and the shortest one that is recognized: the uptime is in units of 10 ms. */
const LOOK_MS = 1_000;
const SHORTEST_SLEEP_MS = 2_000;

/** A clock of this machine. Its timers keep the process alive. */
export function createSystemClock(): Clock {
  const begun = Date.now();
  const monotonic = performance.now();
  const up = readUptime();
  let asleep = 0;
  let lookedAt = monotonic;

  function now(): number {
    const at = performance.now();
    if (at - lookedAt >= LOOK_MS) {
      lookedAt = at;
      const slept = (readUptime() ?? 0) - (up ?? 0) - (at - monotonic);
      if (slept - asleep >= SHORTEST_SLEEP_MS) asleep = slept;
    }
    return Math.floor(begun + at - monotonic + asleep);
  }

  return {
    now,
    wall: () => Date.now(),
    boot() {
      const uptimeMs = readUptime();
      const id = readBootId();
      return id === undefined || uptimeMs === undefined ? undefined : { id, uptimeMs };
    },
    setTimer(at, callback) {
      let timer: NodeJS.Timeout;
      const arm = () => {
        timer = setTimeout(fire, Math.min(Math.max(0, at - now()), LONGEST_WAIT_MS));
      };
      const fire = () => {
        if (now() < at) arm();
        else callback();
      };
      arm();
      return () => clearTimeout(timer);
    },
    defer: deferInTurn,
  };
}

function readUptime(): number | undefined {
  try {
    return uptime() * 1000;
  } catch {
    return undefined;
  }
}
