import { fail, ok, type Result } from '@sluice/core';
import { Cron } from 'croner';

const MOMENT = /^(\d{4}-\d\d-\d\d)(?:T(\d\d:\d\d))?$/;

/**
 * Parses `FROM..TO`, each a date or `YYYY-MM-DDTHH:MM` in local time of the time zone. Both ends belong to the range; a
 * date includes its whole day.
 */
export function parseRange(text: string, timezone: string): Result<{ from: number; to: number }, string> {
  const [first, last, ...rest] = text.split('..');
  const from = first === undefined ? undefined : readMoment(first, timezone);
  const to = last === undefined ? undefined : readMoment(last, timezone);
  if (from === undefined || to === undefined || rest.length > 0) {
    return fail(`could not read the range "${text}": it must look like 2026-01-01..2026-01-31`);
  }
  const end = to.isDay ? instant(nextDay(to.date), timezone)! - 1 : to.at;
  if (end < from.at) return fail(`could not use the range "${text}": it ends before it begins`);
  return ok({ from: from.at, to: end });
}

/** The text of `parseRange` for two times, in milliseconds since the Unix epoch. */
export function renderRange({ from, to }: { from: number; to: number }, timezone: string): string {
  // The Swedish form is `2026-01-31 02:30`.
  const format = new Intl.DateTimeFormat('sv-SE', { timeZone: timezone, dateStyle: 'short', timeStyle: 'short' });
  return [from, to].map((at) => format.format(at).replace(' ', 'T')).join('..');
}

function readMoment(text: string, timezone: string): { at: number; date: string; isDay: boolean } | undefined {
  const [, date, time] = MOMENT.exec(text) ?? [];
  if (date === undefined || !isDate(date)) return undefined;
  const at = instant(`${date}T${time ?? '00:00'}:00`, timezone);
  return at === undefined ? undefined : { at, date, isDay: time === undefined };
}

/** False for February 30, which `Date` would interpret as a day in March. */
function isDate(date: string): boolean {
  const time = Date.parse(`${date}T00:00:00Z`);
  return !Number.isNaN(time) && new Date(time).toISOString().startsWith(date);
}

function instant(local: string, timezone: string): number | undefined {
  try {
    return new Cron(local, { timezone, paused: true }).getOnce()?.getTime();
  } catch {
    return undefined;
  }
}

function nextDay(date: string): string {
  const next = new Date(Date.parse(`${date}T00:00:00Z`) + 24 * 3_600_000);
  return `${next.toISOString().slice(0, 10)}T00:00:00`;
}
