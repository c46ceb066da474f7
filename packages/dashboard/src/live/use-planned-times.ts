import type { PlannedTimeList } from '@sluice/host';
import { useEffect, useState } from 'preact/hooks';
import { fetchReply, messageFor } from '../api/fetch-reply.ts';
import { addMonths, type PlannedTime } from '../model/planned-days.ts';

const DAY_MS = 86_400_000;
const PAGE = 1_000;
/** A schedule for every minute has four times as many in a month. */
const MAX_TIMES = 10_000;
/** The runs of planned times change. */
const REFRESH_MS = 10_000;

interface Loaded {
  readonly key: string;
  readonly times: readonly PlannedTime[];
  readonly isComplete: boolean;
  readonly error?: string;
}

/** The planned times of a month (`YYYY-MM`) and of a day before and after it, kept up to date. */
export function usePlannedTimes(name: string, month: string, version: number) {
  const key = `${name} ${month}`;
  const [loaded, setLoaded] = useState<Loaded>();
  useEffect(() => {
    const aborted = new AbortController();
    let timer: ReturnType<typeof setTimeout> | undefined;
    const load = async () => {
      try {
        setLoaded({ key, ...(await fetchMonth(name, month, aborted.signal)) });
      } catch (error) {
        if (!aborted.signal.aborted) setLoaded({ key, times: [], isComplete: true, error: messageFor(error) });
      }
      if (!aborted.signal.aborted) timer = setTimeout(load, REFRESH_MS);
    };
    void load();
    return () => {
      aborted.abort();
      clearTimeout(timer);
    };
  }, [key, version]);
  return loaded?.key === key ? loaded : undefined;
}

async function fetchMonth(name: string, month: string, signal: AbortSignal) {
  const from = new Date(Date.parse(`${month}-01T00:00:00Z`) - DAY_MS).toISOString();
  const to = new Date(Date.parse(`${addMonths(month, 1)}-01T00:00:00Z`) + DAY_MS).toISOString();
  const times: PlannedTime[] = [];
  let pageToken: string | undefined;
  do {
    const query = { from, to, pageSize: PAGE, pageToken };
    const page = await fetchReply<PlannedTimeList>(`schedules/${encodeURIComponent(name)}/times`, query, signal);
    times.push(...page.times);
    pageToken = page.nextPageToken;
  } while (pageToken !== undefined && times.length < MAX_TIMES);
  return { times, isComplete: pageToken === undefined };
}
