import type { PlannedTimeList } from '@sluice/host';

/** A planned time of a schedule, and what became of it. */
export type PlannedTime = PlannedTimeList['times'][number];

/** The times of one day in the zone of the schedule, in order. */
export type PlannedDays = ReadonlyMap<string, readonly PlannedTime[]>;

/** What became of a planned time, as one word. */
export type Outcome =
  | 'succeeded'
  | 'failed'
  | 'canceled'
  | 'running'
  | 'suspended'
  | 'waiting'
  | 'skipped'
  | 'missed'
  | 'planned';

const DAY_MS = 86_400_000;
const WEEK = 7;

/** The dates (`YYYY-MM-DD`) of the weeks, from Monday, that contain a month (`YYYY-MM`). */
export function listWeeks(month: string): string[][] {
  const first = Date.parse(`${month}-01T00:00:00Z`);
  const start = first - ((new Date(first).getUTCDay() + 6) % WEEK) * DAY_MS;
  const weeks: string[][] = [];
  for (let at = start; ; at += WEEK * DAY_MS) {
    const week = Array.from({ length: WEEK }, (_, day) => dateOf(at + day * DAY_MS));
    if (!week.some((date) => date.startsWith(month))) return weeks;
    weeks.push(week);
  }
}

/** The month that is so many months later. */
export function addMonths(month: string, count: number): string {
  const [year = 0, number = 1] = month.split('-').map(Number);
  return new Date(Date.UTC(year, number - 1 + count, 1)).toISOString().slice(0, 'YYYY-MM'.length);
}

/** Several lists of times as one, in order, without repeats. */
export function mergeTimes(lists: readonly (readonly PlannedTime[])[]): readonly PlannedTime[] {
  const byTime = new Map(lists.flat().map((time) => [time.plannedAt, time]));
  return [...byTime.values()].sort((a, b) => Date.parse(a.plannedAt) - Date.parse(b.plannedAt));
}

/** The date (`YYYY-MM-DD`) after this one. */
export function nextDate(date: string): string {
  return dateOf(Date.parse(date) + DAY_MS);
}

/** The times of a month by date in a time zone. */
export function groupByDay(times: readonly PlannedTime[], timezone: string, month: string): PlannedDays {
  const days = new Map<string, PlannedTime[]>();
  for (const time of times) {
    const date = localTime(time.plannedAt, timezone).slice(0, 'YYYY-MM-DD'.length);
    if (!date.startsWith(month)) continue;
    const day = days.get(date);
    if (day === undefined) days.set(date, [time]);
    else day.push(time);
  }
  return days;
}

/** `YYYY-MM-DD HH:MM` in a time zone; without one, in that of the browser. */
export function localTime(at: number | string, timezone: string | undefined): string {
  // The Swedish form of times is that of ISO 8601.
  return new Intl.DateTimeFormat('sv-SE', { timeZone: timezone, dateStyle: 'short', timeStyle: 'short' }).format(
    new Date(at),
  );
}

/** What became of a planned time. A recorded run that has not begun waits. */
export function outcomeOf({ status, runStatus }: PlannedTime): Outcome {
  return status === 'started' ? (runStatus ?? 'waiting') : status;
}

/** The number of times by outcome, the most important first. */
export function countOutcomes(times: readonly PlannedTime[]): { readonly outcome: Outcome; readonly count: number }[] {
  const counts = new Map<Outcome, number>();
  for (const time of times) counts.set(outcomeOf(time), (counts.get(outcomeOf(time)) ?? 0) + 1);
  return ORDER.flatMap((outcome) => {
    const count = counts.get(outcome);
    return count === undefined ? [] : [{ outcome, count }];
  });
}

const ORDER: readonly Outcome[] = [
  ...(['failed', 'canceled', 'suspended', 'running', 'waiting'] as const),
  ...(['missed', 'skipped', 'succeeded', 'planned'] as const),
];

/** Whether a backfill would run it. */
export function canBackfill({ status }: PlannedTime): boolean {
  return status === 'missed' || status === 'skipped';
}

function dateOf(at: number): string {
  return new Date(at).toISOString().slice(0, 'YYYY-MM-DD'.length);
}
