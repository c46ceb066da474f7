import type { Random } from '../../../run/test/random.ts';

/** What happens to one call on its way. */
export interface CallFate {
  readonly requestMs: number;
  readonly replyMs: number;
  /** The request never arrives. */
  readonly requestLost: boolean;
  /** The reply never arrives. */
  readonly replyLost: boolean;
  /** The request arrives a second time, so much later. */
  readonly duplicateAfterMs: number | undefined;
  /** The request arrives only after the caller has given up. */
  readonly lateByMs: number | undefined;
  /** Answered by the gate before the service: this status, nothing done. */
  readonly gate: 401 | 408 | 429 | 500 | 503 | 'rejected' | 'unreadable' | Page | undefined;
}

/** A gateway's own page takes the place of the reply; `page after`: when the service has acted. */
export type Page = 'page 403' | 'page 404' | 'page after';

/** Probabilities of each fault; all 0 is a calm network. */
export interface FaultRates {
  readonly requestLost: number;
  readonly replyLost: number;
  readonly duplicate: number;
  readonly late: number;
  readonly throttled: number;
  readonly broken: number;
  readonly unauthenticated: number;
  readonly unreadable: number;
  readonly slow: number;
  /** A question is answered with what was true before the last change, so that a phase goes back. */
  readonly stale: number;
  /** The connection breaks in the middle of a file: of what was to be written a part is there. */
  readonly cut: number;
  /** Of calls about containers. */
  readonly page: number;
}

/** A time in which the gate turns every call away. */
export interface Burst {
  readonly fromMs: number;
  readonly lengthMs: number;
  readonly gate: NonNullable<CallFate['gate']>;
}

export const CALM: FaultRates = {
  requestLost: 0,
  replyLost: 0,
  duplicate: 0,
  late: 0,
  throttled: 0,
  broken: 0,
  unauthenticated: 0,
  unreadable: 0,
  slow: 0,
  stale: 0,
  cut: 0,
  page: 0,
};

/** A random subset of the faults, each rare or frequent: all at once would only ever show the first that bites. */
export function drawFaultRates(random: Random): FaultRates {
  const rate = () => (random.chance(0.5) ? 0 : random.pick([0.01, 0.05, 0.2]));
  return {
    requestLost: rate(),
    replyLost: rate(),
    duplicate: rate(),
    late: rate(),
    throttled: rate(),
    broken: rate(),
    unauthenticated: rate(),
    unreadable: rate(),
    slow: rate(),
    stale: rate(),
    cut: rate(),
    page: rate(),
  };
}

export function drawBursts(random: Random): Burst[] {
  return Array.from({ length: random.chance(0.5) ? 0 : 1 + random.below(3) }, () => ({
    fromMs: random.below(180_000),
    lengthMs: random.pick([1_000, 10_000, 120_000]),
    gate: random.pick([429, 429, 500, 503, 401, 'rejected', 'unreadable', 'page 403', 'page 404'] as const),
  }));
}

/** What the gate says at this time of the run; undefined where it lets calls through. */
export function gateAt(bursts: readonly Burst[], elapsedMs: number): CallFate['gate'] {
  return bursts.find(({ fromMs, lengthMs }) => elapsedMs >= fromMs && elapsedMs < fromMs + lengthMs)?.gate;
}

export function drawFate(random: Random, rates: FaultRates): CallFate {
  const slow = random.chance(rates.slow) ? 20_000 : 0;
  const gate = random.chance(rates.throttled)
    ? 429
    : random.chance(rates.unauthenticated)
      ? 401
      : random.chance(rates.broken)
        ? random.pick([408, 500, 503, 'rejected'] as const)
        : undefined;
  return {
    requestMs: 1 + random.below(20) + (slow && random.below(slow)),
    replyMs: 1 + random.below(20) + (slow && random.below(slow)),
    requestLost: random.chance(rates.requestLost),
    replyLost: random.chance(rates.replyLost),
    duplicateAfterMs: random.chance(rates.duplicate) ? random.below(90_000) : undefined,
    lateByMs: random.chance(rates.late) ? random.below(60_000) : undefined,
    gate: gate ?? (random.chance(rates.unreadable) ? 'unreadable' : drawPage(random, rates)),
  };
}

/** Draws nothing where there are none, so that kept scenarios stay as they were. */
function drawPage(random: Random, { page }: FaultRates): Page | undefined {
  if (page === 0 || !random.chance(page)) return undefined;
  return random.pick(['page 403', 'page 404', 'page after'] as const);
}
