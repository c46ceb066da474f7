import { uptime } from 'node:os';
import { readBootID } from '@sluice/host-system';

/**
 * The only source of time in the shell, so that a simulation can run it in virtual time. Times are milliseconds since
 * the epoch; timers may fire late, never early.
 */
export interface Clock {
  /**
   * The time by which everything within one process goes. It begins with the machine's clock, then counts the time that
   * really passes, sleep of the machine included: who sets the clock moves it neither forwards nor back.
   */
  now(): number;
  /**
   * What the machine's clock shows, which may jump. Only for what a calendar decides and for times that other processes
   * compare with their own.
   */
  wall(): number;
  /** How long the machine has been up, and since which boot; undefined where it does not tell. */
  boot(): BootTime | undefined;
  /** Calls `callback` once when `now()` has come to `at`, or later; the returned function forgets it. */
  setTimer(at: number, callback: () => void): () => void;
  /** Calls `callback` after everything of the present loop turn: what happens in one turn is handled as one batch. */
  defer(callback: () => void): void;
}

/** A time that two processes of one machine can compare, whatever becomes of its clock between them. */
export interface BootTime {
  /** Another one after each start of the kernel. */
  readonly id: string;
  readonly uptimeMs: number;
}

/** Resolves after `ms` of that clock. */
export function sleep(clock: Pick<Clock, 'now' | 'setTimer'>, ms: number): Promise<void> {
  return new Promise((resolve) => {
    clock.setTimer(clock.now() + ms, resolve);
  });
}

/** Node's timers do not count the sleep of the machine: a long wait is looked at again this often. */
const LONGEST_WAIT_MS = 60_000;
/** So often a sleep of the machine is looked for, and so long it is at least: the uptime is told in hundredths of a second. */
const LOOK_MS = 1_000;
const SHORTEST_SLEEP_MS = 2_000;

/** The machine's own clock. Its timers keep the process alive. */
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
      const id = readBootID();
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
    defer: (callback) => void setImmediate(callback),
  };
}

function readUptime(): number | undefined {
  try {
    return uptime() * 1000;
  } catch {
    return undefined;
  }
}
