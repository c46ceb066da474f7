import type { PostponeReason } from '../model/event.ts';
import { CODE } from '../model/state-code.ts';

/**
 * How fast cells are started after the service has said that it has no room, or did not answer: a thousand ready cells
 * must not ask it a thousand times a second. Each container that ends, and each that is taken, lets another one be
 * tried; without either, one is tried now and then, ever more rarely. After a row of successes the pace is free again.
 */
export interface StartPace {
  /** Cells that may be started at once; Infinity while nothing has been refused. */
  credits: number;
  /** When one may be tried without a credit. */
  heldUntil: number;
  waitMs: number;
  /** Cells taken since the last refusal. */
  taken: number;
  /** Something was started since the last refusal: the next one is news. */
  probed: boolean;
  reason: PostponeReason;
}

/** As much of the run's state as its pace goes by. */
interface PacedRun {
  readonly pace: StartPace;
  readonly now: number;
  /** Cells by state. */
  readonly counts: Int32Array;
}

const FIRST_WAIT_MS = 500;
const LONGEST_WAIT_MS = 30_000;
/** More than that many in a row: there is room again. */
const FREE_FROM = 64;
/** From so many on, each success lets two more be tried. */
const FASTER_FROM = 8;

/** Reasons that are not about one cell alone. */
const OF_THE_SERVICE: ReadonlySet<PostponeReason> = new Set(['quota', 'throttled', 'unavailable', 'storage']);

export function createStartPace(): StartPace {
  return { credits: Number.POSITIVE_INFINITY, heldUntil: 0, waitMs: 0, taken: 0, probed: true, reason: 'quota' };
}

/** A submission was put off. Reasons that are about the one cell change nothing. */
export function slowDown(run: PacedRun, { reason, until }: { reason: PostponeReason; until: number }): void {
  if (!OF_THE_SERVICE.has(reason)) return;
  const { pace } = run;
  pace.credits = 0;
  pace.taken = 0;
  pace.reason = reason;
  if (!pace.probed) return;
  pace.probed = false;
  pace.waitMs = Math.min(LONGEST_WAIT_MS, Math.max(FIRST_WAIT_MS, pace.waitMs * 2));
  pace.heldUntil = Math.max(until, run.now + pace.waitMs);
}

/** The service has taken a container. */
export function speedUp(run: PacedRun): void {
  const { pace } = run;
  if (pace.credits === Number.POSITIVE_INFINITY) return;
  pace.waitMs = 0;
  pace.taken++;
  pace.credits += pace.taken >= FASTER_FROM ? 2 : 1;
  if (pace.taken >= FREE_FROM) pace.credits = Number.POSITIVE_INFINITY;
}

/** A container has ended: there may be room for another. */
export function noteCapacity(run: PacedRun): void {
  run.pace.credits++;
}

/** Whether one more cell may be started now. */
export function mayStart({ pace, now }: PacedRun): boolean {
  return pace.credits > 0 || now >= pace.heldUntil;
}

/** A cell is being started. */
export function spendStart(run: PacedRun): void {
  const { pace } = run;
  pace.probed = true;
  if (pace.credits > 0) pace.credits--;
  else pace.heldUntil = run.now + Math.max(FIRST_WAIT_MS, pace.waitMs);
}

/** Until when ready cells are held back by the pace alone; undefined when they are not. */
export function heldUntil(run: PacedRun): number | undefined {
  return run.counts[CODE.ready]! > 0 && !mayStart(run) ? run.pace.heldUntil : undefined;
}
