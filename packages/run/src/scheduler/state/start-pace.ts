import type { PostponeReason } from '../model/event.ts';
import { CODE } from '../model/state-code.ts';

/**
 * Limits how fast cells are started after the service reported a lack of capacity or did not answer: a thousand ready
 * cells must not send a thousand requests per second. Each container that ends or is accepted permits one more start.
 * Without either, single cells are started with growing delays. After enough successes in a row the pace is unlimited
 * again.
 */
export interface StartPace {
  /** Cells that may be started now; Infinity while nothing has been rejected. */
  credits: number;
  /** When a cell may be started without a credit. */
  heldUntil: number;
  waitMs: number;
  /** Cells accepted since the last rejection. */
  taken: number;
  /** A cell was started since the last rejection, so the next rejection is new information. */
  probed: boolean;
  reason: PostponeReason;
}

/** The part of the run's state that the pace depends on. */
interface PacedRun {
  readonly pace: StartPace;
  readonly now: number;
  /** Cells by state. */
  readonly counts: Int32Array;
}

const FIRST_WAIT_MS = 500;
const LONGEST_WAIT_MS = 30_000;
/** After more than this many successes in a row, the pace is unlimited. */
const FREE_FROM = 64;
/** From this many successes on, each one permits two more starts. */
const FASTER_FROM = 8;

/** Reasons that do not concern a single cell only. */
const OF_THE_SERVICE: ReadonlySet<PostponeReason> = new Set(['quota', 'throttled', 'unavailable', 'storage']);

/** Creates the pace of a run that has not been slowed down. */
export function createStartPace(): StartPace {
  return { credits: Number.POSITIVE_INFINITY, heldUntil: 0, waitMs: 0, taken: 0, probed: true, reason: 'quota' };
}

/** A submission was postponed. Reasons that concern only the one cell change nothing. */
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

/** The service has accepted a container. */
export function speedUp(run: PacedRun): void {
  const { pace } = run;
  if (pace.credits === Number.POSITIVE_INFINITY) return;
  pace.waitMs = 0;
  pace.taken++;
  pace.credits += pace.taken >= FASTER_FROM ? 2 : 1;
  if (pace.taken >= FREE_FROM) pace.credits = Number.POSITIVE_INFINITY;
}

/** A container has ended: there may be capacity for another. */
export function noteCapacity(run: PacedRun): void {
  run.pace.credits++;
}

/** Whether one more cell may be started now. */
export function mayStart({ pace, now }: PacedRun): boolean {
  return pace.credits > 0 || now >= pace.heldUntil;
}

/** Counts the start of a cell. */
export function spendStart(run: PacedRun): void {
  const { pace } = run;
  pace.probed = true;
  if (pace.credits > 0) pace.credits--;
  else pace.heldUntil = run.now + Math.max(FIRST_WAIT_MS, pace.waitMs);
}

/** Until when the pace alone holds ready cells back; undefined if it does not. */
export function heldUntil(run: PacedRun): number | undefined {
  return run.counts[CODE.ready]! > 0 && !mayStart(run) ? run.pace.heldUntil : undefined;
}
