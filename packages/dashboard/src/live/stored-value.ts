const PREFIX = 'sluice.';

/** A value that the browser remembers; undefined if there is none, or if it stores nothing, as in private windows. */
export function loadValue(name: string): string | undefined {
  try {
    return localStorage.getItem(PREFIX + name) ?? undefined;
  } catch {
    return undefined;
  }
}

/** Remembers a value in this browser; undefined removes it. */
export function storeValue(name: string, value: string | undefined): void {
  try {
    if (value === undefined) localStorage.removeItem(PREFIX + name);
    else localStorage.setItem(PREFIX + name, value);
  } catch {
    // It lasts until the page is left.
  }
}
