import { renderDuration } from '@sluice/core';
import type { RunDetails } from '@sluice/host';
import { useMemo } from 'preact/hooks';
import type { LiveRun } from '../live/open-run.ts';
import { linkTo } from '../live/route.ts';
import { MAX_CELLS } from '../live/use-cells.ts';
import { useLiveRun } from '../live/use-live-run.ts';
import { useNow } from '../live/use-now.ts';
import { useStore } from '../live/use-store.ts';
import { alignSteps, countDifferent } from '../model/align-steps.ts';
import { beganAt } from '../model/began-at.ts';
import { findCriticalMarks } from '../model/critical-marks.ts';
import { findGaps } from '../model/find-gaps.ts';
import type { PairedRow } from '../model/paired-rows.ts';
import { renderCount } from '../model/render-count.ts';
import { type RunModel, stepCodes, totalCounts } from '../model/run-model.ts';
import type { RunPair } from '../model/run-pair.ts';
import { SECONDS } from '../model/time-format.ts';
import { timesOfRun } from '../model/times-of-run.ts';
import { CountBar, countWords } from '../parts/count-bar.tsx';
import { ConnectionNote, Loading } from '../parts/loading.tsx';
import { type NamedPlace, type PairedRun, PairedTimelines, type RowFolds } from '../parts/paired-timelines.tsx';
import { RunStatus } from '../parts/status-mark.tsx';
import { TimeSlider } from './time-slider.tsx';
import { foldRun, useFolding } from './use-folding.ts';
import { useModelAt } from './use-model-at.ts';
import { type FoldedRun, type PairedRows, usePairedRows } from './use-paired-rows.ts';
import { useTimeInAddress } from './use-time-in-address.ts';

/** Two runs at the same time after their starts, with the steps of one name in one row. */
export function CompareTimelines({ run, other, query }: RunPair & { query: URLSearchParams }) {
  const [a, b] = [useLiveRun(run.runId), useLiveRun(other.runId)];
  return (
    <section class="panel" aria-labelledby="both-timelines">
      <h2 id="both-timelines">Timelines of both runs</h2>
      {a !== undefined && b !== undefined && <Followed a={a} b={b} query={query} />}
    </section>
  );
}

interface FollowedProps {
  readonly a: LiveRun;
  readonly b: LiveRun;
  readonly query: URLSearchParams;
}

function Followed({ a, b, query }: FollowedProps) {
  useStore(a);
  useStore(b);
  const missing = [a, b].find(({ details, model }) => details === undefined || model === undefined);
  if (missing !== undefined)
    return <Loading what={`run ${missing.runId}`} connection={missing.connection} error={missing.error} />;
  return <Both {...{ a, b, query }} />;
}

/** The runs have details and models. */
function Both({ a, b, query }: FollowedProps) {
  const [planA, planB] = [a.details!.plan.steps, b.details!.plan.steps];
  const [foldedA, foldedB] = [
    { run: a, folding: useFolding(planA, query) },
    { run: b, folding: useFolding(planB, query) },
  ];
  const paired = usePairedRows([foldedA, foldedB], query);
  const steps = useMemo(() => alignSteps(planA, planB), [planA, planB]);
  const now = useNow(a.status === 'running' || b.status === 'running');
  const [at, setAt] = useTimeInAddress(query.get('at'), SECONDS);
  const first = useReplayed(foldedA, { letter: 'A', at, now });
  const second = useReplayed(foldedB, { letter: 'B', at, now });
  const span = Math.max(1, first.length, second.length);
  const past = at === undefined || at >= span ? undefined : at;
  const different = countDifferent(steps, stepCodes(first.planModel), stepCodes(second.planModel));
  return (
    <>
      <ConnectionNote {...(a.connection.isConnected ? b : a).connection} />
      <ul class="pair-heads">
        {[first, second].map((run) => (
          <PairHead key={run.letter} run={run} />
        ))}
      </ul>
      <TimeSlider
        travel={{ at: past, setAt }}
        times={{ startedAt: 0, end: span }}
        isReady={a.isHistoryComplete && b.isHistoryComplete}
        what="the runs"
      />
      <p class="soft">
        {different === 0
          ? 'All steps have the same status in both runs.'
          : `${renderCount(different)} of ${renderCount(steps.length)} steps have different statuses.`}{' '}
        An outline marks the critical path of each run.
      </p>
      <FoldNotes {...paired} />
      <PairedTimelines
        rows={paired.rows}
        runs={[first, second]}
        span={span}
        foldsOf={(row) => foldsOf(row, [first, second], paired)}
        linkOf={(runId, place) => linkOf(runId, place, paired)}
      />
    </>
  );
}

/** Folds all groups or none, and tells of which steps not all cells are shown. */
function FoldNotes({ groups, folded, fold, cut }: PairedRows) {
  const isAny = folded.size > 0;
  return (
    <>
      {groups.size > 0 && (
        <div class="buttons pair-folds">
          <button type="button" onClick={() => fold(isAny ? [] : groups)}>
            {isAny ? 'Unfold groups' : 'Fold groups'}
          </button>
        </div>
      )}
      {cut.length > 0 && (
        <p class="soft">{`Of ${cut.join(', ')}, the first ${renderCount(MAX_CELLS)} cells are shown.`}</p>
      )}
    </>
  );
}

/** What the row of a step folds: its cells or its group, and as the first one of a group that is unfolded, that. */
function foldsOf(row: PairedRow, runs: readonly PairedRun[], paired: PairedRows): RowFolds {
  const { step, cell, places } = row;
  const { folded, unfolded, toggle, foldGroup, firstOf } = paired;
  if (cell !== undefined) return {};
  if (folded.has(step))
    return { own: { isOpen: false, words: `Unfold the group ${step}`, toggle: () => foldGroup(step) } };
  const group = firstOf.get(step);
  const hasCells = runs.some(({ model }, run) => (model.cells[places[run]?.step ?? -1]?.length ?? 0) > 1);
  const isOpen = unfolded.has(step);
  const words = `${isOpen ? 'Hide' : 'Show'} the cells of ${step}`;
  return {
    ...(hasCells && { own: { isOpen, words, toggle: () => toggle(step) } }),
    ...(group !== undefined && { group: { name: group, fold: () => foldGroup(group) } }),
  };
}

/** A folded group has no screen of its own: its link selects it on the page of the run. */
function linkOf(runId: string, { step, cell }: NamedPlace, { folded }: PairedRows): string {
  if (folded.has(step)) return linkTo(['runs', runId], { step, fold: step });
  return linkTo(['runs', runId, 'steps', step, ...(cell === undefined ? [] : ['cells', String(cell)])]);
}

/** A run at the shown time. */
interface ReplayedRun extends PairedRun {
  readonly status: RunDetails['status'];
  /** With all steps of the plan; `model` has those that are shown. */
  readonly planModel: RunModel;
  /** From the start to the end, or until now, in milliseconds. */
  readonly length: number;
}

interface ReplayOptions extends Pick<PairedRun, 'letter'> {
  /** Since the start, in milliseconds; undefined for the present. */
  readonly at: number | undefined;
  readonly now: number;
}

/** After its end, it stays as it was then. */
function useReplayed({ run, folding }: FoldedRun, { letter, at, now }: ReplayOptions): ReplayedRun {
  const { runId, history } = run;
  const [details, present] = [run.details!, run.model!];
  const times = timesOfRun(details, history, run.status === 'running' ? now : undefined);
  const past = at !== undefined && times.startedAt + at < times.end ? times.startedAt + at : undefined;
  const replayed = useModelAt(run, past);
  const [planModel, moment] = [replayed ?? present, replayed && past];
  const gaps = useMemo(() => findGaps(details.resumes, beganAt(details)), [details]);
  const critical = useMemo(() => findCriticalMarks(details, folding.view), [details, folding.view]);
  return {
    ...{ letter, runId, gaps, critical, planModel },
    ...foldRun(run, planModel, folding),
    startedAt: times.startedAt,
    now: moment ?? times.end,
    status: moment === undefined ? (run.status ?? details.status) : 'running',
    length: times.end - times.startedAt,
  };
}

function PairHead({ run: { letter, runId, status, planModel, startedAt, now } }: { run: ReplayedRun }) {
  const counts = totalCounts(planModel);
  return (
    <li>
      <b>{letter}</b> <RunStatus status={status} />{' '}
      <a class="id" href={linkTo(['runs', runId])}>
        {runId}
      </a>{' '}
      {renderDuration(now - startedAt)} <CountBar counts={counts} /> <span class="soft">{countWords(counts)}</span>
    </li>
  );
}
