const UNITS = [
  { unit: 'd', ms: 86_400_000 },
  { unit: 'h', ms: 3_600_000 },
  { unit: 'min', ms: 60_000 },
  { unit: 's', ms: 1_000 },
] as const;

/** A duration in its two largest units, for example `2 min 5 s`. */
export function durationWords(ms: number): string {
  if (ms < 1_000) return `${Math.max(0, Math.round(ms))} ms`;
  if (ms < 10_000) return `${(ms / 1_000).toFixed(1)} s`;
  const first = UNITS.findIndex((unit) => ms >= unit.ms);
  const { unit, ms: size } = UNITS[first]!;
  const count = Math.floor(ms / size);
  const next = UNITS[first + 1];
  const rest = next === undefined ? 0 : Math.floor((ms - count * size) / next.ms);
  return rest === 0 || next === undefined ? `${count} ${unit}` : `${count} ${unit} ${rest} ${next.unit}`;
}

/** How long ago, in one unit. */
export function agoWords(at: number, now: number): string {
  const ms = now - at;
  if (ms < 5_000) return 'just now';
  const { unit, ms: size } = UNITS.find((one) => ms >= one.ms) ?? UNITS[3];
  return `${Math.floor(ms / size)} ${unit} ago`;
}

/** A time in the user's zone, to the second. */
export function timeWords(at: number | string): string {
  const time = new Date(at);
  const two = (number: number) => String(number).padStart(2, '0');
  const date = `${time.getFullYear()}-${two(time.getMonth() + 1)}-${two(time.getDate())}`;
  return `${date} ${two(time.getHours())}:${two(time.getMinutes())}:${two(time.getSeconds())}`;
}
