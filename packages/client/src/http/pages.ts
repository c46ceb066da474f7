import { ServiceError } from '../service-error.ts';

/** One page of a list; no token, or an empty one, marks the last page. */
export interface Page<T> {
  readonly items: readonly T[];
  readonly nextPageToken: string | null | undefined;
}

const MAX_PAGES = 100_000;
const MAX_EMPTY_PAGES = 100;
const MAX_ITEMS = 5_000_000;
const MAX_TOKEN = 8_192;

/**
 * The items of all pages, each page requested when the previous one is consumed. Throws `INVALID_REPLY` for lists
 * without end: repeated or overlong page tokens, many pages without an item, or more items than any service has.
 */
export async function* pages<T>(
  fetch: (token: string | undefined) => Promise<Page<T>>,
  what: string,
): AsyncGenerator<T> {
  const seen = new Set<string>();
  let token: string | undefined;
  let empty = 0;
  let items = 0;
  for (;;) {
    const page = await fetch(token);
    yield* page.items;
    items += page.items.length;
    token = page.nextPageToken ?? '';
    if (token === '') return;
    empty = page.items.length === 0 ? empty + 1 : 0;
    const isLong = token.length > MAX_TOKEN || seen.size >= MAX_PAGES || items > MAX_ITEMS;
    if (isLong || seen.has(token) || empty > MAX_EMPTY_PAGES) {
      throw new ServiceError('INVALID_REPLY', `could not ${what}: the service gives page after page without an end`);
    }
    seen.add(token);
  }
}
