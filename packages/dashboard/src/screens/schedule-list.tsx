import type { ScheduleList as Schedules } from '@sluice/host';
import { findAccount } from '../api/server-account.ts';
import { linkTo } from '../live/route.ts';
import { useList } from '../live/use-list.ts';
import { localTime } from '../model/planned-days.ts';
import { Note } from '../parts/note.tsx';
import { timeWords } from '../parts/time-words.ts';

type Schedule = Schedules['schedules'][number];

const SHORT_COUNT = 2;
const LONG_COUNT = 5;

/** The schedules of the home with their next planned times. */
export function ScheduleList({ isShort = false }: { isShort?: boolean }) {
  const { value, error } = useList<'schedules', Schedule>('schedules', 'schedules', {
    query: { next: isShort ? SHORT_COUNT : LONG_COUNT },
  });
  if (isShort && (value === undefined || value.length === 0)) return null;
  return (
    <section class="panel" aria-labelledby="schedules">
      <h2 id="schedules">{isShort ? <a href={linkTo(['schedules'])}>Schedules</a> : 'Next planned times'}</h2>
      {error !== undefined && <Note tone="bad">{error}</Note>}
      {value?.length === 0 && <NoSchedules />}
      {value?.map((schedule) => (
        <ScheduleEntry key={schedule.name} schedule={schedule} />
      ))}
    </section>
  );
}

function NoSchedules() {
  if (findAccount(location.href) !== undefined)
    return <p class="empty">A server has no schedules: they run in the home that starts them.</p>;
  return (
    <p class="empty">
      This home has no schedules. A pipeline with <code>schedule</code> is listed here after its first{' '}
      <code>sluice schedule run</code>.
    </p>
  );
}

function ScheduleEntry({ schedule }: { schedule: Schedule }) {
  const { name, nextAt, pausedAt, timezone } = schedule;
  return (
    <div class="schedule">
      <a class="strong" href={linkTo(['schedules', name])}>
        {name}
      </a>
      <span class="soft">{pausedAt === undefined ? timezone : `paused since ${timeWords(pausedAt)}`}</span>
      <span class="soft">{nextAt.map((at) => localTime(at, timezone)).join(', ')}</span>
    </div>
  );
}
