import type { Container } from '@sluice/client';

/** When a container ran, from the service's own times; milliseconds since the epoch on the runner's clock. */
export interface ServiceTimes {
  readonly runningAt?: number;
  readonly endedAt?: number;
}

/** What the runner itself knows about an attempt. */
export interface ObservedTimes {
  /** Before the container was requested. */
  readonly askedAt?: number | undefined;
  /** When the container was first known to exist. */
  readonly submittedAt?: number | undefined;
  readonly runningAt?: number | undefined;
  /** When its end was observed: the time of a poll, which may be much later than the end. */
  readonly seenAt: number;
}

/** Smaller differences are ignored: hints arrive almost at once. */
const MEANINGFUL_MS = 100;

/**
 * Converts the service's `startTime`, `endTime` and `runTime` to the runner's clock. The two clocks may differ by
 * hours: `createTime` must be between the request and its confirmation, which bounds the offset. The result never
 * contradicts what the runner has observed; undefined if the service reports nothing that differs from it.
 */
export function estimateTimes(observed: ObservedTimes, container: Container): ServiceTimes | undefined {
  const { seenAt, askedAt = observed.submittedAt ?? seenAt } = observed;
  const bounded = (time: number) => Math.min(seenAt, Math.max(askedAt, time));
  const offset = clockOffset(observed, container);
  const ended = timeOf(container.endTime);
  const started = timeOf(container.startTime);
  const ranMs = duration(container, { started, ended });
  const endedAt = ended === undefined || offset === undefined ? undefined : bounded(ended - offset);
  const runningAt = estimateStart({ started, offset, ranMs, endedAt: endedAt ?? seenAt, bounded });
  const isNew = (estimate: number | undefined, seen: number | undefined) =>
    estimate !== undefined && (seen === undefined || Math.abs(estimate - seen) >= MEANINGFUL_MS);
  if (!isNew(endedAt, seenAt) && !isNew(runningAt, observed.runningAt ?? observed.submittedAt)) return undefined;
  return {
    ...(runningAt !== undefined && { runningAt }),
    ...(endedAt !== undefined && { endedAt: Math.max(endedAt, runningAt ?? endedAt) }),
  };
}

function estimateStart(given: {
  readonly started: number | undefined;
  readonly offset: number | undefined;
  readonly ranMs: number | undefined;
  readonly endedAt: number;
  readonly bounded: (time: number) => number;
}): number | undefined {
  const { started, offset, ranMs, endedAt, bounded } = given;
  // A duration does not depend on any clock.
  if (ranMs !== undefined) return bounded(endedAt - ranMs);
  return started === undefined || offset === undefined ? undefined : bounded(started - offset);
}

/**
 * How far the service's clock is ahead: the smallest offset that explains its `createTime`; undefined if that is
 * unknown.
 */
function clockOffset({ askedAt, submittedAt, seenAt }: ObservedTimes, container: Container): number | undefined {
  const created = timeOf(container.createTime);
  if (created === undefined) return undefined;
  const latest = submittedAt ?? seenAt;
  const earliest = askedAt ?? latest;
  if (created > latest) return created - latest;
  // Services truncate their times to whole seconds.
  return created < earliest - 1000 ? created - earliest : 0;
}

function duration(
  { runTime }: Container,
  { started, ended }: { readonly started: number | undefined; readonly ended: number | undefined },
): number | undefined {
  if (started !== undefined && ended !== undefined && ended > started) return ended - started;
  return runTime !== undefined && Number.isFinite(runTime) && runTime > 0 ? runTime * 1000 : undefined;
}

function timeOf(text: string | undefined): number | undefined {
  const time = text === undefined ? Number.NaN : Date.parse(text);
  // Some services write the year 1 for an unknown time.
  return Number.isNaN(time) || time <= 0 ? undefined : time;
}
