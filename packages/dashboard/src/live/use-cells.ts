import type { CellEntry, CellList } from '@sluice/host';
import { useEffect, useState } from 'preact/hooks';
import { fetchReply, messageFor } from '../api/fetch-reply.ts';
import { useVersion } from './use-version.ts';

const PAGE = 1_000;
/** More rows than a person compares; the API has all. */
export const MAX_CELLS = 5_000;

interface LoadedCells {
  readonly cells: readonly CellEntry[];
  /** The number of all cells. */
  readonly total: number;
  readonly isLoaded: boolean;
  readonly error?: string;
}

/** Which cells, and when they are loaded again. */
interface CellsOptions {
  readonly status?: string | undefined;
  /** A part of the name. */
  readonly search?: string | undefined;
  /** The cells are loaded again when it changes. */
  readonly version?: unknown;
}

/** The first `MAX_CELLS` cells of a step, or of all steps, with their values. */
export function useCells(runId: string, step: string | undefined, { status, search, version }: CellsOptions = {}) {
  const { begun, end } = useVersion(version);
  const [loaded, setLoaded] = useState<LoadedCells>({ cells: [], total: 0, isLoaded: false });
  useEffect(() => {
    const aborted = new AbortController();
    const load = async () => {
      const cells: CellEntry[] = [];
      let pageToken: string | undefined;
      let total = 0;
      do {
        const query = { step, status, search, values: true, pageSize: PAGE, pageToken };
        const page = await fetchReply<CellList>(`runs/${encodeURIComponent(runId)}/cells`, query, aborted.signal);
        cells.push(...page.cells);
        ({ nextPageToken: pageToken, total } = page);
      } while (pageToken !== undefined && cells.length < MAX_CELLS);
      return { cells, total, isLoaded: true };
    };
    const show = (cells: LoadedCells) => {
      if (aborted.signal.aborted) return;
      setLoaded(cells);
      end();
    };
    load().then(show, (thrown) => show({ cells: [], total: 0, isLoaded: true, error: messageFor(thrown) }));
    return () => aborted.abort();
  }, [runId, step, status, search, begun]);
  return loaded;
}
