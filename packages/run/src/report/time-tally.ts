import { TIME_PARTS, type TimePart } from '../schemas/time-parts.ts';
import type { TimeSpent } from '../schemas/time-spent.ts';

interface Period {
  readonly from: number;
  readonly to: number;
}

/** Counts each moment of a period once, from its begin to its end. */
export interface TimeTally {
  /** Counts the time from the last counted moment to `until` for a part, and pauses for `noExecutor`. */
  add(part: TimePart, until: number | undefined): void;
  /** As `add`, for a part that also happened during pauses. */
  addContainer(part: TimePart, until: number | undefined): void;
  /** The same tally, which counts nothing after this time. */
  before(until: number): TimeTally;
  /** What was counted. */
  end(): TimeSpent;
}

/** A tally of the time from `from` to `until`. `pauses` are in order and do not overlap. */
export function createTimeTally({
  from,
  until: end,
  pauses,
}: {
  readonly from: number;
  readonly until: number;
  readonly pauses: readonly Period[];
}): TimeTally {
  const counted = new Map<TimePart, number>();
  let at = from;

  function count(part: TimePart, to: number): void {
    if (to <= at) return;
    counted.set(part, (counted.get(part) ?? 0) + to - at);
    at = to;
  }

  function create(limit: number): TimeTally {
    const addContainer = (part: TimePart, until?: number) => count(part, Math.min(until ?? at, limit));
    return {
      add(part, until = at) {
        const to = Math.min(until, limit);
        for (const pause of pauses) {
          if (pause.to <= at || pause.from >= to) continue;
          count(part, pause.from);
          count('noExecutor', Math.min(pause.to, to));
        }
        count(part, to);
      },
      addContainer,
      before: (until) => create(Math.min(until, limit)),
      end: () => ({ ...partsOf(counted), totalMs: Math.max(0, at - from) }),
    };
  }
  return create(end);
}

function partsOf(counted: ReadonlyMap<TimePart, number>): Omit<TimeSpent, 'totalMs'> {
  const entries = (Object.keys(TIME_PARTS) as TimePart[]).map((part) => [`${part}Ms`, counted.get(part) ?? 0]);
  return Object.fromEntries(entries) as Omit<TimeSpent, 'totalMs'>;
}
