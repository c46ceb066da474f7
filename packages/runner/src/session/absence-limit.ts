/** How long a container may be absent from the service's replies before it counts as lost. */
export interface AbsenceLimit {
  /** A container was reported again after an absence of this length. */
  note(absentMs: number): void;
  readonly ms: number;
}

/** Generous: if a live container is declared lost, it is started twice, whereas a late verdict only costs time. */
const SHORTEST_MS = 5 * 60_000;
/** The next absence may be longer than all earlier ones. */
const MARGIN = 3;

/**
 * The limit of the site or 5 minutes, but at least three times the longest absence so far that was not a loss: between
 * the reply to a create request and the first sight of its container, or between two sights of it (decision 0028).
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
