/** Longer requested delays are reduced to this one. */
const MAX_RETRY_AFTER_MS = 3_600_000;

/** The delay that a `Retry-After` header requests (seconds or an HTTP date), in milliseconds; undefined if invalid. */
export function parseRetryAfter(value: string | string[] | undefined, now: number): number | undefined {
  const text = (Array.isArray(value) ? value[0] : value)?.trim();
  if (text === undefined || text === '') return undefined;
  const ms = /^\d+(\.\d+)?$/.test(text) ? Number(text) * 1000 : Date.parse(text) - now;
  return Number.isNaN(ms) ? undefined : Math.min(Math.max(Math.ceil(ms), 0), MAX_RETRY_AFTER_MS);
}
