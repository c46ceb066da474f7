import type { RunEntry } from '@sluice/host';
import { linkTo } from '../live/route.ts';
import { beganAt } from '../model/began-at.ts';

const DAYS = 14;
const DAY_MS = 86_400_000;
const TONES = { failed: 'bad', canceled: 'warn', suspended: 'warn', running: 'busy', succeeded: 'good' } as const;

/** The runs of one pipeline in the last two weeks, by day, the newest at the right. */
export function HistoryStrip({ pipeline, runs, now }: { pipeline: string; runs: readonly RunEntry[]; now: number }) {
  const midnight = new Date(now).setHours(0, 0, 0, 0);
  const days = Array.from({ length: DAYS }, (_, index) => {
    const from = new Date(midnight - (DAYS - 1 - index) * DAY_MS).setHours(0, 0, 0, 0);
    const next = new Date(from + DAY_MS + DAY_MS / 2).setHours(0, 0, 0, 0);
    const found = runs.filter((run) => beganAt(run) >= from && beganAt(run) < next);
    return { date: new Date(from), runs: found };
  });
  const most = Math.max(1, ...days.map((day) => day.runs.length));
  return (
    <div class="history">
      <a href={linkTo([], { q: pipeline })}>{pipeline}</a>
      <span class="days" role="img" aria-label={describeDays(days)}>
        {days.map(({ date, runs: found }) => (
          <span key={date.getTime()} class="day" title={describeDay(date, found)}>
            {countStatuses(found).map(({ status, count }) => (
              <i
                key={status}
                class={`tone-${TONES[status]} run-${status}`}
                style={{ height: `${(100 * count) / most}%` }}
              />
            ))}
          </span>
        ))}
      </span>
    </div>
  );
}

type Day = { readonly date: Date; readonly runs: readonly RunEntry[] };

function countStatuses(runs: readonly RunEntry[]) {
  return (Object.keys(TONES) as (keyof typeof TONES)[])
    .map((status) => ({ status, count: runs.filter((run) => run.status === status).length }))
    .filter(({ count }) => count > 0);
}

function describeDay(date: Date, runs: readonly RunEntry[]): string {
  const day = date.toLocaleDateString('en', { month: 'short', day: 'numeric' });
  const parts = countStatuses(runs).map(({ status, count }) => `${count} ${status}`);
  return `${day}: ${parts.length === 0 ? 'no runs' : parts.join(', ')}`;
}

function describeDays(days: readonly Day[]): string {
  const used = days.filter((day) => day.runs.length > 0).map((day) => describeDay(day.date, day.runs));
  return used.length === 0 ? 'no runs in two weeks' : used.join('; ');
}
