import { renderDuration } from '@sluice/core';
import type { RunDetails } from '@sluice/host';
import { useMemo } from 'preact/hooks';
import type { LiveRun } from '../live/open-run.ts';
import { linkTo } from '../live/route.ts';
import { useLiveRun } from '../live/use-live-run.ts';
import { useNow } from '../live/use-now.ts';
import { useStore } from '../live/use-store.ts';
import { alignSteps, countDifferent } from '../model/align-steps.ts';
import { beganAt } from '../model/began-at.ts';
import { findGaps } from '../model/find-gaps.ts';
import { stepCodes, totalCounts } from '../model/run-model.ts';
import type { RunPair } from '../model/run-pair.ts';
import { SECONDS } from '../model/time-format.ts';
import { timesOfRun } from '../model/times-of-run.ts';
import { CountBar, countWords } from '../parts/count-bar.tsx';
import { ConnectionNote, Loading } from '../parts/loading.tsx';
import { type PairedRun, PairedTimelines } from '../parts/paired-timelines.tsx';
import { RunStatus } from '../parts/status-mark.tsx';
import { TimeSlider } from './time-slider.tsx';
import { useModelAt } from './use-model-at.ts';
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
  const now = useNow(a.status === 'running' || b.status === 'running');
  const [at, setAt] = useTimeInAddress(query.get('at'), SECONDS);
  const [first, second] = [useReplayed(a, { letter: 'A', at, now }), useReplayed(b, { letter: 'B', at, now })];
  const [planA, planB] = [a.details?.plan.steps, b.details?.plan.steps];
  const rows = useMemo(() => planA && planB && alignSteps(planA, planB), [planA, planB]);
  if (first === undefined || second === undefined || rows === undefined) {
    const missing = first === undefined ? a : b;
    return <Loading what={`run ${missing.runId}`} connection={missing.connection} error={missing.error} />;
  }
  const span = Math.max(1, first.length, second.length);
  const past = at === undefined || at >= span ? undefined : at;
  const different = countDifferent(rows, stepCodes(first.model), stepCodes(second.model));
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
          : `${different.toLocaleString('en')} of ${rows.length.toLocaleString('en')} steps have different statuses.`}
      </p>
      <PairedTimelines rows={rows} runs={[first, second]} span={span} />
    </>
  );
}

/** A run at the shown time. */
interface ReplayedRun extends PairedRun {
  readonly status: RunDetails['status'];
  /** From the start to the end, or until now, in milliseconds. */
  readonly length: number;
}

interface ReplayOptions extends Pick<PairedRun, 'letter'> {
  /** Since the start, in milliseconds; undefined for the present. */
  readonly at: number | undefined;
  readonly now: number;
}

/** Undefined until the run is loaded. After its end, it stays as it was then. */
function useReplayed(run: LiveRun, { letter, at, now }: ReplayOptions): ReplayedRun | undefined {
  const { runId, details, history } = run;
  const times = details && timesOfRun(details, history, run.status === 'running' ? now : undefined);
  const past = times && at !== undefined && times.startedAt + at < times.end ? times.startedAt + at : undefined;
  const replayed = useModelAt(run, past);
  const [model, moment] = [replayed ?? run.model, replayed && past];
  const gaps = useMemo(() => (details ? findGaps(details.resumes, beganAt(details)) : []), [details]);
  if (details === undefined || times === undefined || model === undefined) return undefined;
  return {
    ...{ letter, runId, model, history, gaps },
    startedAt: times.startedAt,
    now: moment ?? times.end,
    status: moment === undefined ? (run.status ?? details.status) : 'running',
    length: times.end - times.startedAt,
  };
}

function PairHead({ run: { letter, runId, status, model, startedAt, now } }: { run: ReplayedRun }) {
  const counts = totalCounts(model);
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
