import { createHash } from 'node:crypto';
import { z } from 'zod';
import { ApiError } from '../errors/api-error.ts';

/** A name in a directory, with every character escaped, fits into a token. */
const MAX_TOKEN = 4_096;

/** The query parameters of a list for its pages. */
export const pageQuery: {
  pageSize: z.ZodDefault<z.ZodCoercedNumber>;
  pageToken: z.ZodExactOptional<z.ZodString>;
} = {
  pageSize: pageSize({ max: 1000, standard: 100 }),
  pageToken: z.string().max(MAX_TOKEN).exactOptional().describe('`nextPageToken` of the previous page'),
};

/** The query parameter for the length of the pages of a list. */
export function pageSize(length: {
  readonly max: number;
  readonly standard: number;
}): z.ZodDefault<z.ZodCoercedNumber> {
  return z.coerce.number().int().min(1).max(length.max).default(length.standard).describe('the most entries of a page');
}

/** A requested page of one list. */
export interface Page {
  readonly size: number;
  /** Where the page begins, from its token; undefined for the first one. Throws `ApiError` if the token is of another list. */
  start<T>(type: z.ZodType<T>): T | undefined;
  /** The token of the page that begins there. */
  tokenOf(start: unknown): string;
}

interface PageQuery {
  readonly pageSize: number;
  readonly pageToken?: string;
}

/**
 * The page that a request is about. A token contains where its page begins, and a digest of what selects the entries, so that
 * a token of another list is noticed. It grants nothing: what it contains is checked like any other parameter.
 */
export function openPage(list: string, query: PageQuery): Page {
  const { pageSize: size, pageToken, ...selection } = query;
  const digest = createHash('sha256')
    .update(JSON.stringify([list, selection]))
    .digest('base64url')
    .slice(0, 11);
  return {
    size,
    start(type) {
      if (pageToken === undefined) return undefined;
      const parsed = z.tuple([z.literal(digest), type]).safeParse(decode(pageToken));
      if (parsed.success) return parsed.data[1];
      throw new ApiError(
        400,
        'PAGE_TOKEN_INVALID',
        'could not use the query parameter pageToken: it is not from this list; send the `nextPageToken` of the previous page with the same other parameters',
      );
    },
    tokenOf: (start) => Buffer.from(JSON.stringify([digest, start])).toString('base64url'),
  };
}

/** The entries of one page, and for the reply the token of the next page, if there is one. */
interface PagedEntries<T> {
  readonly shown: T[];
  readonly next: { readonly nextPageToken?: string };
}

/** How the entries of a list are ordered, which may grow and shrink between two pages. */
interface EntryOrder<T, K> {
  /** Of what identifies the last entry of a page. */
  readonly type: z.ZodType<K>;
  readonly keyOf: (entry: T) => K;
  readonly isAfter: (entry: T, last: K) => boolean;
}

/** By name, ascending. */
export const BY_NAME: EntryOrder<{ readonly name: string }, string> = {
  type: z.string(),
  keyOf: ({ name }) => name,
  isAfter: ({ name }, last) => name > last,
};

/** The entries that follow the last one of the previous page. `all` must be in that order. */
export function pageAfter<T, K>(all: readonly T[], page: Page, order: EntryOrder<T, K>): PagedEntries<T> {
  const last = page.start(order.type);
  const rest = last === undefined ? all : all.filter((entry) => order.isAfter(entry, last));
  const shown = rest.slice(0, page.size);
  return { shown, next: shown.length < rest.length ? { nextPageToken: page.tokenOf(order.keyOf(shown.at(-1)!)) } : {} };
}

/** The entries from the index at which the page begins; the first page begins at `first`. */
export function pageFrom<T>(all: readonly T[], page: Page, first = 0): PagedEntries<T> {
  const start = page.start(z.int().min(0)) ?? first;
  const end = start + page.size;
  return { shown: all.slice(start, end), next: end < all.length ? { nextPageToken: page.tokenOf(end) } : {} };
}

function decode(token: string): unknown {
  if (!/^[A-Za-z0-9_-]+$/.test(token)) return undefined;
  try {
    return JSON.parse(Buffer.from(token, 'base64url').toString());
  } catch {
    return undefined;
  }
}
