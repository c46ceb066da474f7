import { setTimeout as delay } from 'node:timers/promises';

const INTERVAL_MS = 15;

/** Asks until `probe` gives something; fails after `timeoutMs` (default 60 s) with what it was waiting for. */
export async function until<T>(
  what: string,
  probe: () => Promise<T | undefined | false>,
  { timeoutMs = 60_000 }: { timeoutMs?: number } = {},
): Promise<T> {
  const end = Date.now() + timeoutMs;
  for (;;) {
    const found = await probe();
    if (found !== undefined && found !== false) return found;
    if (Date.now() > end) throw new Error(`Waited ${timeoutMs} ms in vain: ${what}`);
    await delay(INTERVAL_MS);
  }
}
