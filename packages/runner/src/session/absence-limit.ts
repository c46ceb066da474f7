/** How long a container may be absent from the service's replies before it counts as lost. */
export interface AbsenceLimit {
  /** A container was shown again after it had been absent for so long. */
  note(absentMs: number): void;
  readonly ms: number;
}

/** Generous: a container that is declared lost and lives is started a second time, a late verdict costs only time. */
const SHORTEST_MS = 5 * 60_000;
/** The next absence may be longer than any so far. */
const MARGIN = 3;

/**
 * What the site says, or 5 minutes, or three times the longest absence so far that was no loss: between the reply to a
 * create and the first sight of its container, or between two sights of it (decision 0028).
 */
export function createAbsenceLimit(lostAfterMs = SHORTEST_MS): AbsenceLimit {
  let longestMs = 0;
  return {
    note(absentMs) {
      longestMs = Math.max(longestMs, absentMs);
    },
    get ms() {
      return Math.max(lostAfterMs, longestMs * MARGIN);
    },
  };
}
