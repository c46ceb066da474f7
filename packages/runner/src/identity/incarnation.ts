/** What tells a container from a later one under the same ID. Fields that the service did not give are unknown. */
export interface Incarnation {
  readonly createTime?: string | undefined;
  readonly runID?: string | undefined;
}

/** Whether `seen` can be the very container that was `first` seen. What either leaves open is no difference. */
export function isSameIncarnation(first: Incarnation, seen: Incarnation): boolean {
  return isSame(first.runID, seen.runID) && isSameTime(first.createTime, seen.createTime);
}

/** The incarnation with what `seen` adds to it. */
export function completeIncarnation(first: Incarnation, seen: Incarnation): Incarnation {
  const createTime = first.createTime ?? seen.createTime;
  const runID = first.runID ?? seen.runID;
  return { ...(createTime !== undefined && { createTime }), ...(runID !== undefined && { runID }) };
}

function isSame(first: string | undefined, seen: string | undefined): boolean {
  return !first || !seen || first === seen;
}

/** Services write one moment in several forms: with an offset or `Z`, with or without a fraction. */
function isSameTime(first: string | undefined, seen: string | undefined): boolean {
  if (!first || !seen || first === seen) return true;
  const [a, b] = [Date.parse(first), Date.parse(seen)];
  if (Number.isNaN(a) || Number.isNaN(b)) return false;
  const fraction = /:\d\d\.\d/;
  if (fraction.test(first) && fraction.test(seen)) return a === b;
  return Math.floor(a / 1000) === Math.floor(b / 1000);
}
