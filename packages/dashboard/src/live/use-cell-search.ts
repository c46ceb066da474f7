import type { CellMatches } from '@sluice/host';
import { useEffect, useState } from 'preact/hooks';
import { fetchReply, messageFor } from '../api/fetch-reply.ts';

/** While the user types, nothing is searched. */
const PAUSE_MS = 250;

/** The cells that a search has found. While a newer search is made, those of the older stay. */
export interface CellSearch {
  readonly value: CellMatches | undefined;
  readonly error: string | undefined;
  readonly isSearching: boolean;
}

const NOTHING = { value: undefined, error: undefined, isSearching: false };

/** Searches the cells of a run by name, and again whenever `version` changes. Without a text, nothing is searched. */
export function useCellSearch(runId: string, text: string, version: unknown): CellSearch {
  const [found, setFound] = useState<Omit<CellSearch, 'isSearching'> & { readonly key: string }>({
    ...{ value: undefined, error: undefined, key: '' },
  });
  const key = JSON.stringify([runId, text, version]);
  useEffect(() => {
    if (text === '') {
      setFound({ value: undefined, error: undefined, key });
      return;
    }
    const aborted = new AbortController();
    const search = () =>
      fetchReply<CellMatches>(`runs/${encodeURIComponent(runId)}/cell-matches`, { search: text }, aborted.signal).then(
        (value) => {
          if (!aborted.signal.aborted) setFound({ value, error: undefined, key });
        },
        (error) => {
          if (!aborted.signal.aborted) setFound({ value: undefined, error: messageFor(error), key });
        },
      );
    const timer = setTimeout(search, PAUSE_MS);
    return () => {
      clearTimeout(timer);
      aborted.abort();
    };
  }, [key]);
  if (text === '') return NOTHING;
  return { value: found.value, error: found.error, isSearching: found.key !== key };
}
