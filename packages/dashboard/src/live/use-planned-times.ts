import type { PlannedTimeList } from '@sluice/host';
import { useEffect, useState } from 'preact/hooks';
import { fetchReply, messageFor } from '../api/fetch-reply.ts';
import { addMonths, mergeTimes, nextDate, type PlannedTime } from '../model/planned-days.ts';

const DAY_MS = 86_400_000;
const PAGE = 1_000;
/** A schedule for every minute has four times as many in a month. */
const MAX_TIMES = 10_000;
/** The runs of planned times change. */
const REFRESH_MS = 10_000;

interface Loaded {
  readonly key: string;
  readonly times: readonly PlannedTime[];
  /** Complete before this time; undefined: completely. */
  readonly until?: string | undefined;
  readonly error?: string;
}

/** A range of dates (`YYYY-MM-DD`), the second one excluded. */
type Dates = readonly [from: string, to: string];

/**
 * The planned times of a month (`YYYY-MM`) and of a day before and after it, kept up to date: those with a record, also of
 * a month with more times than are loaded, and all those of the selected day.
 */
export function usePlannedTimes(
  name: string,
  { month, day, version }: { readonly month: string; readonly day: string | undefined; readonly version: number },
) {
  const key = `${name} ${month} ${day}`;
  const [loaded, setLoaded] = useState<Loaded>();
  useEffect(() => {
    const aborted = new AbortController();
    let timer: ReturnType<typeof setTimeout> | undefined;
    const dates: Dates = [`${month}-01`, `${addMonths(month, 1)}-01`];
    const fetch = (range: Dates, recorded = false) => fetchTimes(name, { range, recorded, signal: aborted.signal });
    const load = async () => {
      try {
        const { times, until } = await fetch(dates);
        const more = until === undefined ? [] : [await fetch(dates, true)];
        if (until !== undefined && day !== undefined) more.push(await fetch([day, nextDate(day)]));
        setLoaded({ key, times: mergeTimes([times, ...more.map((one) => one.times)]), until });
      } catch (error) {
        if (!aborted.signal.aborted) setLoaded({ key, times: [], error: messageFor(error) });
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

interface TimesQuery {
  readonly range: Dates;
  readonly recorded: boolean;
  readonly signal: AbortSignal;
}

async function fetchTimes(name: string, { range, recorded, signal }: TimesQuery) {
  // The dates are those of the schedule's time zone.
  const from = new Date(Date.parse(`${range[0]}T00:00:00Z`) - DAY_MS).toISOString();
  const to = new Date(Date.parse(`${range[1]}T00:00:00Z`) + DAY_MS).toISOString();
  const times: PlannedTime[] = [];
  let pageToken: string | undefined;
  do {
    const query = { from, to, pageSize: PAGE, pageToken, ...(recorded && { recorded }) };
    const page = await fetchReply<PlannedTimeList>(`schedules/${encodeURIComponent(name)}/times`, query, signal);
    times.push(...page.times);
    pageToken = page.nextPageToken;
  } while (pageToken !== undefined && times.length < MAX_TIMES);
  return { times, until: pageToken === undefined ? undefined : times.at(-1)?.plannedAt };
}
