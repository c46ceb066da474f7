import { renderDuration } from '@sluice/core';
import type { RunDetails } from '@sluice/host';
import { useState } from 'preact/hooks';
import { RunActions } from '../actions/run-actions.tsx';
import { useActionDialog } from '../actions/use-action-dialog.tsx';
import { useWatch } from '../live/end-notice.ts';
import type { LiveRun } from '../live/open-run.ts';
import { linkTo, type Route, replaceQuery } from '../live/route.ts';
import { useCellSearch } from '../live/use-cell-search.ts';
import { PHONE, useMedia } from '../live/use-media.ts';
import { useNow } from '../live/use-now.ts';
import { useStore } from '../live/use-store.ts';
import { beganAt } from '../model/began-at.ts';
import { type RunModel, totalCounts } from '../model/run-model.ts';
import { AWAITING_APPROVAL } from '../model/statuses.ts';
import { type RunTimes, timesOfRun } from '../model/times-of-run.ts';
import { CopyButton } from '../parts/copy-button.tsx';
import { CountBar, countWords } from '../parts/count-bar.tsx';
import { Fold } from '../parts/fold.tsx';
import { ConnectionNote, Loading } from '../parts/loading.tsx';
import { Note } from '../parts/note.tsx';
import { QueryCheckbox } from '../parts/query-checkbox.tsx';
import { RunStatus } from '../parts/status-mark.tsx';
import { Time } from '../parts/time.tsx';
import { FailurePanel } from './failure-panel.tsx';
import { FoundCells } from './found-cells.tsx';
import { OpenApprovals } from './open-approvals.tsx';
import { RunFacts } from './run-facts.tsx';
import { RunPanes } from './run-panes.tsx';
import { TimeSlider, type TimeTravel, useTimeTravel } from './time-slider.tsx';
import { TimeSpentPanel } from './time-spent-panel.tsx';

/** One run: graph and timeline with a shared selection. */
export function RunScreen({ run, route }: { run: LiveRun; route: Route }) {
  useStore(run);
  const isLive = run.status === 'running';
  const now = useNow(isLive);
  if (run.details === undefined || run.model === undefined)
    return <Loading what="the run" connection={run.connection} error={run.error} />;
  const times = timesOfRun(run.details, run.history, isLive ? now : undefined);
  return <LoadedRun run={run} route={route} details={run.details} model={run.model} times={times} />;
}

interface LoadedProps {
  readonly run: LiveRun;
  readonly route: Route;
  readonly details: RunDetails;
  readonly model: RunModel;
  readonly times: RunTimes;
}

function LoadedRun({ run, route, details, model, times }: LoadedProps) {
  const { query } = route;
  const travel = useTimeTravel(run, times, query.get('at'));
  const shown = travel.model ?? model;
  const isPhone = useMedia(PHONE);
  const status = run.status ?? details.status;
  const isPast = travel.at !== undefined;
  const counts = totalCounts(model);
  const { act, dialog } = useActionDialog();
  const text = details.plan.steps.some(({ cells }) => cells !== 1) ? (query.get('q') ?? '').trim() : '';
  const search = useCellSearch(run.runId, text, countCells(model));
  const failures = !isPast && <FailurePanel details={details} />;
  const timeSpent = !isPast && <TimeSpentPanel run={run} details={details} />;
  return (
    <div class="run">
      <RunHead run={run} details={details} model={shown} end={times.end} at={travel.at} isPhone={isPhone} />
      {status === 'running' && <ConnectionNote {...run.connection} />}
      {details.message !== undefined && !isPast && (
        <Note tone={status === 'failed' ? 'bad' : 'calm'}>{details.message}</Note>
      )}
      {counts[AWAITING_APPROVAL]! > 0 && !isPast && (
        <OpenApprovals runId={run.runId} version={[...counts].join()} act={act} />
      )}
      {dialog}
      {!isPhone && failures}
      {!isPhone && timeSpent}
      <Fold isFolded={isPhone} label="Search, time and details">
        <Controls {...{ details, query, travel, times }} isReady={run.isHistoryComplete} />
      </Fold>
      {text !== '' && <FoundCells {...{ runId: run.runId, model: shown, search, text }} />}
      <RunPanes {...{ run, details, model: shown, query, search }} times={{ ...times, now: travel.at ?? times.end }} />
      {isPhone && failures}
      {isPhone && timeSpent}
    </div>
  );
}

interface ControlsProps extends Pick<LoadedProps, 'details' | 'times'> {
  readonly query: URLSearchParams;
  readonly travel: TimeTravel;
  readonly isReady: boolean;
}

function Controls({ details, query, travel, times, isReady }: ControlsProps) {
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <div class="toolbar">
        <input
          type="search"
          aria-label="Search steps by name, image or state, and cells by name"
          placeholder="Search name, image or state"
          value={query.get('q') ?? ''}
          onInput={(event) => replaceQuery({ q: event.currentTarget.value })}
        />
        <QueryCheckbox
          label="Hide finished"
          name="hide"
          value="finished"
          isChecked={query.get('hide') === 'finished'}
        />
        <TimeSlider travel={travel} times={times} isReady={isReady} what="the run" />
        <button type="button" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
          {isOpen ? 'Hide details' : 'Details'}
        </button>
      </div>
      {isOpen && <RunFacts details={details} />}
    </>
  );
}

interface HeadProps {
  readonly run: LiveRun;
  readonly details: RunDetails;
  readonly model: RunModel;
  readonly end: number;
  /** The time in the past that is shown; undefined: the present. */
  readonly at: number | undefined;
  /** The actions are folded. */
  readonly isPhone: boolean;
}

function RunHead({ run, details, model, end, at, isPhone }: HeadProps) {
  const present = run.status ?? details.status;
  const status = at === undefined ? present : 'running';
  const counts = totalCounts(model);
  const startedAt = beganAt(details);
  return (
    <header class="run-head">
      <div>
        <h1>
          {details.pipeline} <RunStatus status={status} />
        </h1>
        <p class="soft">
          <span class="id">{run.runId}</span> <CopyButton text={run.runId} what="the run ID" /> · started{' '}
          <Time at={startedAt} /> {status !== 'suspended' && ` · ${renderDuration((at ?? end) - startedAt)}`}
          {at !== undefined && (
            <b>
              {' '}
              · as it was at <Time at={at} />
            </b>
          )}
        </p>
      </div>
      <div class="run-progress">
        <CountBar counts={counts} />
        <small class="soft">{countWords(counts)}</small>
      </div>
      <Fold isFolded={isPhone} label="Actions">
        <div class="buttons">
          <RunActions runId={run.runId} status={present} />
          {present === 'running' && <WatchButton runId={run.runId} />}
          <a class="button" href={linkTo(['compare'], { run: run.runId })}>
            Compare
          </a>
        </div>
      </Fold>
    </header>
  );
}

function WatchButton({ runId }: { runId: string }) {
  const watched = useWatch(runId);
  if (watched === undefined) return null;
  return (
    <button
      type="button"
      aria-pressed={watched.isWatched}
      title="A notification when the run ends, as long as this page is open"
      onClick={watched.watch}
    >
      Notify me
    </button>
  );
}

/** The cells of a `foreach` become known while it runs. */
function countCells({ cells }: RunModel): number {
  return cells.reduce((sum, { length }) => sum + length, 0);
}
