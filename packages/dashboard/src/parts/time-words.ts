import { renderDuration } from '@sluice/core';

const UNITS = [
  { unit: 'd', ms: 86_400_000 },
  { unit: 'h', ms: 3_600_000 },
  { unit: 'min', ms: 60_000 },
  { unit: 's', ms: 1_000 },
] as const;

/** In place of a duration. */
export const NOT_BEGUN = '–';
/** What `tookWords` means. */
export const TOOK = 'from the start of the first attempt to the end of the last';

/** How long a cell or a step took, as the view of the run defines it; until `now` if it has not ended then. */
export function tookWords({ beganAt, endedAt }: { beganAt?: string; endedAt?: string }, now?: number): string {
  const from = Date.parse(beganAt ?? '');
  const to = Math.min(Date.parse(endedAt ?? '') || (now ?? Number.NaN), now ?? Number.POSITIVE_INFINITY);
  return to >= from ? renderDuration(to - from) : NOT_BEGUN;
}

/** How long ago, in one unit. */
export function agoWords(at: number, now: number): string {
  const ms = now - at;
  if (ms < 5_000) return 'just now';
  const { unit, ms: size } = UNITS.find((one) => ms >= one.ms) ?? UNITS[3];
  return `${Math.floor(ms / size)} ${unit} ago`;
}

/** The user's zone at a time, as `UTC+01:00 (Europe/Berlin)`. */
export function zoneWords(at: number | string): string {
  const minutes = -new Date(at).getTimezoneOffset();
  const two = (number: number) => String(Math.floor(number)).padStart(2, '0');
  const size = Math.abs(minutes);
  const { timeZone } = Intl.DateTimeFormat().resolvedOptions();
  return `UTC${minutes < 0 ? '-' : '+'}${two(size / 60)}:${two(size % 60)} (${timeZone})`;
}

/** A time in the user's zone, to the second. */
export function timeWords(at: number | string): string {
  const time = new Date(at);
  const two = (number: number) => String(number).padStart(2, '0');
  const date = `${time.getFullYear()}-${two(time.getMonth() + 1)}-${two(time.getDate())}`;
  return `${date} ${two(time.getHours())}:${two(time.getMinutes())}:${two(time.getSeconds())}`;
}
