import type { ScheduleList as Schedules } from '@sluice/host';
import { useState } from 'preact/hooks';
import { ActionButton, useActionDialog } from '../actions/use-action-dialog.tsx';
import { linkTo, type Route, replaceQuery } from '../live/route.ts';
import { useList } from '../live/use-list.ts';
import { usePlannedTimes } from '../live/use-planned-times.ts';
import { addMonths, groupByDay, localTime } from '../model/planned-days.ts';
import { Note } from '../parts/note.tsx';
import { timeWords } from '../parts/time-words.ts';
import { PlannedDay } from './planned-day.tsx';
import { ScheduleCalendar } from './schedule-calendar.tsx';
import { ScheduleList } from './schedule-list.tsx';

type Schedule = Schedules['schedules'][number];

/** In place of a selected date. */
const WHOLE_MONTH = 'all';

/** All schedules, or the calendar of one. */
export function ScheduleScreen({ route }: { route: Route }) {
  const [, name] = route.path;
  const [version, setVersion] = useState(0);
  const { value, error } = useList<'schedules', Schedule>(name === undefined ? undefined : 'schedules', 'schedules', {
    version,
  });
  if (name === undefined) {
    return (
      <>
        <h1>Schedules</h1>
        <ScheduleList />
      </>
    );
  }
  const schedule = value?.find((one) => one.name === name);
  return (
    <>
      <nav class="trail" aria-label="Path">
        <a href={linkTo(['schedules'])}>Schedules</a>
        <span aria-current="page">{name}</span>
      </nav>
      {schedule === undefined && <h1 class="hidden">Schedule {name}</h1>}
      {error !== undefined && <Note tone="bad">{error}</Note>}
      {value !== undefined && schedule === undefined && <Note tone="bad">{`This home has no schedule ${name}.`}</Note>}
      {schedule !== undefined && (
        <OneSchedule
          schedule={schedule}
          query={route.query}
          version={version}
          onChange={() => setVersion((count) => count + 1)}
        />
      )}
    </>
  );
}

interface OneScheduleProps {
  readonly schedule: Schedule;
  readonly query: URLSearchParams;
  readonly version: number;
  readonly onChange: () => void;
}

function OneSchedule({ schedule, query, version, onChange }: OneScheduleProps) {
  const { name, timezone } = schedule;
  const today = localTime(Date.now(), timezone).slice(0, 'YYYY-MM-DD'.length);
  const month = /^\d{4}-(0[1-9]|1[0-2])$/.exec(query.get('month') ?? '')?.[0] ?? today.slice(0, 'YYYY-MM'.length);
  // Today is selected at first.
  const wanted = query.get('day') ?? (today.startsWith(month) ? today : WHOLE_MONTH);
  const day = wanted.startsWith(month) && /^\d{4}-\d\d-\d\d$/.test(wanted) ? wanted : undefined;
  const loaded = usePlannedTimes(name, { month, day, version });
  const days = groupByDay(loaded?.times ?? [], timezone, month);
  const shown = day === undefined ? undefined : (days.get(day) ?? []);
  return (
    <>
      <ScheduleHead schedule={schedule} onChange={onChange} />
      {loaded?.error !== undefined && <Note tone="bad">{loaded.error}</Note>}
      {loaded?.until !== undefined && (
        <Note tone="warn">{`After ${localTime(loaded.until, timezone)}, the calendar shows only times with a run and skipped ones. Select a day to see all of its times.`}</Note>
      )}
      <div class="columns schedule-columns">
        <ScheduleCalendar
          {...{ month, day, today, days }}
          onMonth={(count) => replaceQuery({ month: addMonths(month, count), day: undefined })}
          onDay={(date) => replaceQuery({ month, day: date ?? WHOLE_MONTH })}
        />
        <PlannedDay
          {...{ name, timezone, day }}
          times={shown ?? [...days.values()].flat()}
          title={day ?? month}
          isLoading={loaded === undefined}
          onDone={onChange}
        />
      </div>
    </>
  );
}

function ScheduleHead({ schedule, onChange }: { schedule: Schedule; onChange: () => void }) {
  const { name, file, timezone, nextAt, pausedAt } = schedule;
  const { act, dialog } = useActionDialog();
  const path = `schedules/${encodeURIComponent(name)}`;
  const verb = pausedAt === undefined ? 'Pause' : 'Unpause';
  const pause = { path: `${path}:${verb.toLowerCase()}`, title: `${verb} ${name}`, verb, body: {}, onDone: onChange };
  const run = { path: `${path}:run`, body: {}, title: `Run ${name} now`, verb: 'Run', onDone: onChange };
  return (
    <header class="run-head">
      <div>
        <h1>{name}</h1>
        <p class="soft">
          {timezone}
          {file !== undefined && `, ${file}`}
        </p>
        <p>
          {pausedAt === undefined
            ? `Next: ${nextAt.length === 0 ? 'never' : nextAt.map((at) => localTime(at, timezone)).join(', ')}`
            : `Paused since ${timeWords(pausedAt)}: no planned time is run.`}
        </p>
      </div>
      <div class="buttons">
        <ActionButton act={act} request={run}>
          Run now
        </ActionButton>
        <ActionButton act={act} request={pause}>
          {verb}
        </ActionButton>
        {dialog}
      </div>
    </header>
  );
}
