import type { RunDetails, RunEntry } from '@sluice/host';
import { useEffect, useState } from 'preact/hooks';
import { fetchReply, messageFor } from '../api/fetch-reply.ts';
import { openEvents } from '../api/open-events.ts';

/** Several runs. */
interface LoadedRuns {
  /** Empty until all are loaded. */
  readonly runs: readonly RunDetails[];
  readonly error: string | undefined;
}

/** The details of runs, in this order. Those that have not ended are fetched again after the list of runs tells of a change. */
export function useRuns(ids: readonly string[]): LoadedRuns {
  const [loaded, setLoaded] = useState<LoadedRuns>({ runs: [], error: undefined });
  useEffect(() => {
    const aborted = new AbortController();
    let closeEvents: (() => void) | undefined;
    const fetchRun = (id: string) => fetchReply<RunDetails>(`runs/${encodeURIComponent(id)}`, {}, aborted.signal);
    const refresh = async (changed: readonly RunDetails[]) => {
      // Without a reply, what was known is still shown; the next change fetches it again.
      const found = await Promise.all(changed.map(({ runId }) => fetchRun(runId).catch(() => undefined)));
      const byId = new Map(found.flatMap((run) => (run === undefined ? [] : [[run.runId, run] as const])));
      if (aborted.signal.aborted || byId.size === 0) return;
      show(known.map((run) => byId.get(run.runId) ?? run));
    };
    let known: readonly RunDetails[] = [];
    const show = (runs: readonly RunDetails[]) => {
      known = runs;
      setLoaded({ runs, error: undefined });
    };
    Promise.all(ids.map(fetchRun)).then(
      (runs) => {
        show(runs);
        if (runs.every(({ endedAt }) => endedAt !== undefined)) return;
        closeEvents = openEvents({
          list: true,
          on: { runs: ({ runs: entries }) => void refresh(findChanged(known, entries)) },
          onConnection: () => {},
        });
      },
      (thrown) => {
        if (!aborted.signal.aborted) setLoaded({ runs: [], error: messageFor(thrown) });
      },
    );
    return () => {
      aborted.abort();
      closeEvents?.();
    };
  }, [ids.join()]);
  return loaded;
}

/** The runs that may differ from what is known of them. */
function findChanged(known: readonly RunDetails[], entries: readonly RunEntry[]): readonly RunDetails[] {
  const newest = new Map(entries.map((entry) => [entry.runId, entry]));
  return known.filter(({ runId, endedAt }) => {
    const entry = newest.get(runId);
    return entry !== undefined && (endedAt === undefined || entry.endedAt !== endedAt);
  });
}
