import { isServiceError } from '@sluice/client';
import type { Attempt } from '../session/attempt.ts';

/**
 * The pause between two polls. It adapts to the age of containers, to how often they end, to latency and to throttling.
 */
export interface PollPace {
  /** A single query was answered. */
  answered(): void;
  /** A list was answered after this many milliseconds. */
  listed(tookMs: number): void;
  failed(error: unknown): void;
  /** A poll begins. */
  begun(): void;
  /** In this poll, this many containers were queried individually that a list would have contained. */
  askedAlone(count: number): void;
  /** A container is known to have ended. */
  ended(now: number): void;
  /** Milliseconds until the next poll. `hinted`: the service reports changes by itself. */
  interval(now: number, attempts: Iterable<Attempt>, hinted: boolean): number;
}

const FASTEST_MS = 250;
const SLOWEST_MS = 10_000;
/** With hints, polls are only a safety net. */
const HINTED_MS = 5_000;
const THROTTLED_MS = 60_000;
/** Time per container that is queried individually, so that thousands of them do not flood the service. */
const ALONE_MS = 20;
/** If ends are rarer than this, the pause does not grow further: young containers may fail early. */
const LONGEST_GAP_MS = 1_000;

/** Starts with the shortest pause. */
export function createPollPace(): PollPace {
  let latencyMs = 0;
  let penaltyMs = 0;
  /** Mean time between two ends, weighted toward the newest: polling faster than that finds nothing. */
  let gapMs = 0;
  let lastEnd: number | undefined;
  let alone = 0;
  return {
    begun() {
      alone = 0;
    },
    askedAlone(count) {
      alone += count;
    },
    answered() {
      penaltyMs = 0;
    },
    listed(tookMs) {
      latencyMs = latencyMs * 0.7 + tookMs * 0.3;
      penaltyMs = 0;
    },
    failed(error) {
      const asked = isServiceError(error) ? (error.retryAfterMs ?? 0) : 0;
      penaltyMs = Math.min(THROTTLED_MS, Math.max(asked, penaltyMs * 2, 2 * FASTEST_MS));
    },
    ended(now) {
      gapMs = lastEnd === undefined ? 0 : gapMs * 0.9 + Math.max(0, now - lastEnd) * 0.1;
      lastEnd = now;
    },
    interval(now, attempts, hinted) {
      let youngest = now;
      for (const attempt of attempts) {
        // The clock was set back: count ages from now, otherwise all containers would be young for hours.
        attempt.since = Math.min(attempt.since, now);
        youngest = Math.min(youngest, now - attempt.since);
      }
      const fastest = Math.max(FASTEST_MS, Math.min(gapMs, LONGEST_GAP_MS));
      const byAge = Math.min(SLOWEST_MS, Math.max(fastest, youngest / 10, latencyMs * 4));
      return Math.max(byAge, alone * ALONE_MS, hinted ? HINTED_MS : 0, penaltyMs);
    },
  };
}
