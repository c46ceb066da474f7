import { TURN_MS } from './turn-deadline.ts';

/**
 * After a turn that took longer than this, there is a pause of the same length, but not a longer one than the second: a request
 * that reads several files needs several turns.
 */
const LONG_MS = 50;
const LONGEST_PAUSE_MS = 1000;

/** For the next turn. */
let waiting: (() => void)[] = [];
/** Of this turn, and of earlier ones in which there was no time for them. */
let due: (() => void)[] = [];
let isPlanned = false;
let begunAt = 0;
let pausedUntil = 0;

/**
 * Calls `callback` at the end of the present turn of the event loop, or of a later one if earlier callbacks take long: those of
 * all runs of this process share a turn, in the order of their calls.
 */
export function deferInTurn(callback: () => void): void {
  waiting.push(callback);
  plan();
}

function plan(): void {
  if (isPlanned) return;
  isPlanned = true;
  const pauseMs = pausedUntil - performance.now();
  if (pauseMs > 0) setTimeout(begin, pauseMs);
  else setImmediate(begin);
}

function begin(): void {
  begunAt = performance.now();
  due = [...due, ...waiting];
  waiting = [];
  callNext();
}

function callNext(): void {
  const callback = due.shift();
  try {
    callback?.();
  } finally {
    // What waits for a promise that the callback has resolved continues first, and its time counts, too.
    queueMicrotask(proceed);
  }
}

function proceed(): void {
  const endedAt = performance.now();
  const tookMs = endedAt - begunAt;
  if (due.length > 0 && tookMs < TURN_MS) {
    callNext();
    return;
  }
  isPlanned = false;
  if (tookMs > LONG_MS) pausedUntil = endedAt + Math.min(tookMs, LONGEST_PAUSE_MS);
  if (due.length > 0 || waiting.length > 0) plan();
}
