import { RequestError } from './request-error.ts';

/** The requested page, with defaults applied. `after` is the key of the previous page's last entry, or `''`. */
export interface PageRequest {
  readonly pageSize: number;
  readonly after: string;
}

const DEFAULT_PAGE_SIZE = 100;
const MAX_PAGE_SIZE = 1000;

/**
 * A page token contains the key of the page's last entry and the list it belongs to. Keys are sequence numbers, so entries
 * that are created or deleted between two pages do not shift the next page.
 */
export function renderPageToken(list: string, after: string): string {
  return Buffer.from(`${list}\n${after}`).toString('base64url');
}

/** Parses a client's page size and token. Rejects a token of another list. Page sizes over 1000 are reduced to 1000. */
export function parsePage(
  list: string,
  page: { pageSize?: number | undefined; token?: string | undefined },
): PageRequest {
  const pageSize = page.pageSize ?? DEFAULT_PAGE_SIZE;
  if (!Number.isSafeInteger(pageSize) || pageSize < 1) {
    throw new RequestError(
      'PARAMETER_INVALID',
      `could not use pageSize ${pageSize} because it is not a whole number above 0`,
      {
        details: { field: 'pageSize' },
      },
    );
  }
  return { pageSize: Math.min(pageSize, MAX_PAGE_SIZE), after: parseToken(list, page.token ?? '') };
}

function parseToken(list: string, token: string): string {
  if (token === '') return '';
  const text = /^[A-Za-z0-9_-]{1,1024}$/.test(token) ? Buffer.from(token, 'base64url').toString() : '';
  const [of, after, ...rest] = text.split('\n');
  if (of !== list || rest.length > 0 || after === undefined || !/^[a-z0-9-]+\/[a-z0-9-]+\/[a-z0-9]+$/.test(after)) {
    throw new RequestError('PAGE_TOKEN_INVALID', 'could not use nextPageToken because it is not from this list', {
      details: { field: 'nextPageToken' },
    });
  }
  return after;
}
