import { useEffect, useState } from 'preact/hooks';
import { fetchReply, messageFor, type Query } from '../api/fetch-reply.ts';
import { useVersion } from './use-version.ts';

/** A reply that is loaded for a component. While a newer one is loaded, the older stays. */
export interface LoadedReply<T> {
  readonly value: T | undefined;
  readonly error: string | undefined;
}

/** Fetches a reply, and again whenever path, query or `version` change. Without a path, nothing is fetched. */
export function useReply<T>(path: string | undefined, query: Query = {}, version: unknown = 0): LoadedReply<T> {
  const [loaded, setLoaded] = useState<LoadedReply<T> & { key: string }>({
    value: undefined,
    error: undefined,
    key: '',
  });
  const key = JSON.stringify([path, query]);
  const { begun, end } = useVersion(version);
  useEffect(() => {
    if (path === undefined) return;
    const aborted = new AbortController();
    fetchReply<T>(path, query, aborted.signal).then(
      (value) => {
        if (aborted.signal.aborted) return;
        setLoaded({ value, error: undefined, key });
        end();
      },
      (error) => {
        if (aborted.signal.aborted) return;
        setLoaded({ value: undefined, error: messageFor(error), key });
        end();
      },
    );
    return () => aborted.abort();
  }, [key, begun]);
  return loaded.key === key ? loaded : { value: undefined, error: undefined };
}
