import { ServiceError } from '../service-error.ts';

export interface Page<T> {
  readonly items: readonly T[];
  readonly nextPageToken: string | null | undefined;
}

const MAX_PAGES = 100_000;
const MAX_EMPTY_PAGES = 100;

/**
 * The items of all pages, each page asked for when the one before is used up. Ends also on a service that does not:
 * a page token that comes again, or page after page without an item, is an `INVALID_REPLY`.
 */
export async function* pages<T>(
  fetch: (token: string | undefined) => Promise<Page<T>>,
  what: string,
): AsyncGenerator<T> {
  const seen = new Set<string>();
  let token: string | undefined;
  let empty = 0;
  for (;;) {
    const page = await fetch(token);
    yield* page.items;
    token = page.nextPageToken ?? '';
    if (token === '') return;
    empty = page.items.length === 0 ? empty + 1 : 0;
    if (seen.has(token) || seen.size >= MAX_PAGES || empty > MAX_EMPTY_PAGES) {
      throw new ServiceError('INVALID_REPLY', `Could not ${what}: the service gives page after page without an end`);
    }
    seen.add(token);
  }
}
