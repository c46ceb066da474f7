import { delMany, get, set } from 'idb-keyval';
import type { Drawing } from './index-layout.ts';

/** The most drawings that are kept. */
const MAX_STORED = 8;
const RECENT = 'recent';
/** The name of this script contains a hash of the code: another version of the dashboard draws again. */
const VERSION = import.meta.url;

/** A drawing that was kept earlier. Undefined if there is none, or if the browser stores nothing, as in private windows. */
export async function loadDrawing(digest: string): Promise<Drawing | undefined> {
  try {
    return await get<Drawing>(`${VERSION} ${digest}`);
  } catch {
    return undefined;
  }
}

/** Keeps a drawing across reloads, and removes the oldest beyond the limit. */
export async function storeDrawing(digest: string, drawing: Drawing): Promise<void> {
  const key = `${VERSION} ${digest}`;
  try {
    await set(key, drawing);
    const recent = [key, ...((await get<string[]>(RECENT)) ?? []).filter((one) => one !== key)];
    await set(RECENT, recent.slice(0, MAX_STORED));
    await delMany(recent.slice(MAX_STORED));
  } catch {
    // It is computed again after a reload.
  }
}
