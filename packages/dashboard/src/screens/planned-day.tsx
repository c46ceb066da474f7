import { useState } from 'preact/hooks';
import type { ActionRequest } from '../actions/action-dialog.tsx';
import { ActionButton, useActionDialog } from '../actions/use-action-dialog.tsx';
import { linkTo } from '../live/route.ts';
import { canBackfill, localTime, outcomeOf, type PlannedTime } from '../model/planned-days.ts';
import { OutcomeMark } from '../parts/outcome-mark.tsx';

interface PlannedDayProps {
  readonly name: string;
  readonly timezone: string;
  /** The selected date; undefined: the whole month. */
  readonly day: string | undefined;
  readonly title: string;
  readonly times: readonly PlannedTime[];
  readonly isLoading: boolean;
  readonly onDone: () => void;
}

const MAX_ROWS = 200;
/** The server accepts no more at once. */
const MAX_BACKFILL = 100;

/** The planned times of a day or month with their runs, and a backfill of those without one. */
export function PlannedDay({ name, timezone, day, title, times, isLoading, onDone }: PlannedDayProps) {
  const [isAll, setAll] = useState(false);
  const { act, dialog } = useActionDialog();
  const open = times.filter(canBackfill).slice(0, MAX_BACKFILL);
  // Of a month, most times are as expected: only the others need attention.
  const shown = (day !== undefined || isAll ? times : times.filter((time) => !isExpected(time))).slice(0, MAX_ROWS);
  const backfill = (from: PlannedTime, to: PlannedTime): ActionRequest => ({
    path: `schedules/${encodeURIComponent(name)}:backfill`,
    body: { from: from.plannedAt, to: to.plannedAt },
    ...{ title: `Backfill ${name}`, verb: 'Backfill', timezone, onDone },
  });
  return (
    <section class="panel" aria-labelledby="times">
      <div class="panel-head">
        <h2 id="times">{title}</h2>
        {day === undefined && (
          <label>
            <input type="checkbox" checked={isAll} onChange={(event) => setAll(event.currentTarget.checked)} /> All
            times
          </label>
        )}
        {open.length > 0 && (
          <ActionButton act={act} request={backfill(open[0]!, open.at(-1)!)}>
            {open.length === MAX_BACKFILL ? `Backfill the first ${MAX_BACKFILL}` : `Backfill ${open.length}`}
          </ActionButton>
        )}
      </div>
      <ul class="times">
        {shown.map((time) => (
          <li key={time.plannedAt}>
            <TimeRow time={time} timezone={timezone} isWithDate={day === undefined} />
            <TimeAction time={time} act={act} backfill={backfill(time, time)} onDone={onDone} />
          </li>
        ))}
      </ul>
      {shown.length === 0 && !isLoading && <p class="empty">{emptyText(times)}</p>}
      {shown.length === MAX_ROWS && <p class="soft">Only the first {MAX_ROWS} are shown. Select a day.</p>}
      {dialog}
    </section>
  );
}

interface TimeActionProps {
  readonly time: PlannedTime;
  readonly act: (request: ActionRequest) => void;
  readonly backfill: ActionRequest;
  readonly onDone: () => void;
}

/** What can be done about a planned time that has no success. */
function TimeAction({ time, act, backfill, onDone }: TimeActionProps) {
  if (canBackfill(time)) {
    return (
      <ActionButton act={act} request={backfill}>
        Run
      </ActionButton>
    );
  }
  const { runId, runStatus } = time;
  if (runId === undefined || (runStatus !== 'failed' && runStatus !== 'canceled' && runStatus !== 'suspended'))
    return null;
  const verb = runStatus === 'suspended' ? 'Resume' : 'Rerun';
  const path = `runs/${encodeURIComponent(runId)}:${verb.toLowerCase()}`;
  return (
    <ActionButton act={act} request={{ path, body: {}, title: `${verb} ${runId}`, verb, onDone }}>
      {verb}
    </ActionButton>
  );
}

function isExpected(time: PlannedTime): boolean {
  const outcome = outcomeOf(time);
  return outcome === 'succeeded' || outcome === 'planned';
}

function emptyText(times: readonly PlannedTime[]): string {
  return times.length === 0 ? 'No planned times.' : 'Every planned time has succeeded or is in the future.';
}

function TimeRow({ time, timezone, isWithDate }: { time: PlannedTime; timezone: string; isWithDate: boolean }) {
  const { plannedAt, runId, status, isBackfill, message } = time;
  const local = localTime(plannedAt, timezone);
  return (
    <div class="time-row">
      <b>{isWithDate ? local : local.slice(-'HH:MM'.length)}</b> <OutcomeMark outcome={outcomeOf(time)} />{' '}
      {runId !== undefined && status !== undefined && (
        <a class="id" href={linkTo(['runs', runId])}>
          {runId}
        </a>
      )}
      {isBackfill && <span class="soft"> backfill</span>}
      {message !== undefined && <small class="soft">{message}</small>}
    </div>
  );
}
