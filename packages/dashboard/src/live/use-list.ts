import { useEffect, useState } from 'preact/hooks';
import { fetchReply, messageFor, type Query } from '../api/fetch-reply.ts';
import type { LoadedReply } from './use-reply.ts';

const PAGE = 1_000;

/** All pages of a list, loaded as by `useReply`. `key` is that of the entries. */
export function useList<K extends string, T>(
  path: string | undefined,
  key: K,
  { query = {}, version = 0 }: { readonly query?: Query; readonly version?: unknown } = {},
): LoadedReply<readonly T[]> {
  const [loaded, setLoaded] = useState<LoadedReply<readonly T[]>>({ value: undefined, error: undefined });
  useEffect(() => {
    if (path === undefined) return;
    const aborted = new AbortController();
    fetchPages<K, T>(path, { key, query, signal: aborted.signal }).then(
      (value) => setLoaded({ value, error: undefined }),
      (error) => {
        if (!aborted.signal.aborted) setLoaded({ value: undefined, error: messageFor(error) });
      },
    );
    return () => aborted.abort();
  }, [path, JSON.stringify(query), version]);
  return loaded;
}

async function fetchPages<K extends string, T>(
  path: string,
  { key, query, signal }: { readonly key: K; readonly query: Query; readonly signal: AbortSignal },
): Promise<T[]> {
  const entries: T[] = [];
  let pageToken: string | undefined;
  do {
    const page = await fetchReply<{ readonly [N in K]: readonly T[] } & { readonly nextPageToken?: string }>(
      path,
      { ...query, pageSize: PAGE, pageToken },
      signal,
    );
    entries.push(...page[key]);
    pageToken = page.nextPageToken;
  } while (pageToken !== undefined);
  return entries;
}
