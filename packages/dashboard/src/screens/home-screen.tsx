import { renderDuration } from '@sluice/core';
import type { RunEntry } from '@sluice/host';
import { useEffect, useState } from 'preact/hooks';
import { type RunPipeline, RunPipelineButton, useRunPipeline } from '../actions/run-pipeline-form.tsx';
import { useActionDialog } from '../actions/use-action-dialog.tsx';
import { findAccount } from '../api/server-account.ts';
import { type LiveRunList, openRunList } from '../live/open-run-list.ts';
import { linkTo, type Route, replaceQuery } from '../live/route.ts';
import { useNow } from '../live/use-now.ts';
import { useStore } from '../live/use-store.ts';
import { beganAt } from '../model/began-at.ts';
import { labelWords, matchRun } from '../model/match-run.ts';
import { CommandLine } from '../parts/command-line.tsx';
import { CountBar, countsByCode, countWords } from '../parts/count-bar.tsx';
import { HistoryStrip } from '../parts/history-strip.tsx';
import { ConnectionNote, Loading } from '../parts/loading.tsx';
import { SizedHead } from '../parts/sized-head.tsx';
import { RunStatus } from '../parts/status-mark.tsx';
import { agoWords, timeWords, zoneWords } from '../parts/time-words.ts';
import { ClusterPanel } from './cluster-panel.tsx';
import { OpenApprovals } from './open-approvals.tsx';
import { ScheduleList } from './schedule-list.tsx';

/** All runs of the home, and what needs a person. */
export function HomeScreen({ route }: { route: Route }) {
  const [list] = useState(openRunList);
  useEffect(() => () => list.close(), []);
  useStore(list);
  const now = useNow(true);
  const { open, dialogs } = useRunPipeline();
  if (!list.isLoaded) return <Loading what="the runs" connection={list.connection} error={list.error} />;
  return (
    <>
      {list.runs.length === 0 ? (
        <FirstSteps open={open} />
      ) : (
        <Runs list={list} query={route.query} now={now} open={open} />
      )}
      {dialogs}
    </>
  );
}

interface RunsProps extends Pick<RunPipeline, 'open'> {
  readonly list: LiveRunList;
  readonly query: URLSearchParams;
  readonly now: number;
}

function Runs({ list, query, now, open }: RunsProps) {
  return (
    <>
      <h1 class="hidden">Runs</h1>
      <ConnectionNote {...list.connection} />
      <Attention runs={list.runs} now={now} />
      <div class="columns">
        <RunTable list={list} query={query} now={now} open={open} />
        <div class="aside">
          <Pipelines runs={list.runs} now={now} />
          <ScheduleList isShort />
          <ClusterPanel />
        </div>
      </div>
    </>
  );
}

function FirstSteps({ open }: Pick<RunPipeline, 'open'>) {
  const account = findAccount(location.href);
  const server = account === undefined ? '' : ` --detach --service ${new URL(account.url).origin}`;
  return (
    <section class="panel begin">
      <h1>This {account === undefined ? 'home' : 'account'} has no runs yet</h1>
      <p>Write a pipeline to a file, for example pipeline.yaml:</p>
      <pre>{`version: 1
name: first
steps:
  make: { command: [sh, -c, 'echo hello > /made/text'], outputs: { made: /made } }
  show: { command: [cat, /made/text], inputs: { made: make.made } }`}</pre>
      <p>Then run it. It appears here as soon as it starts.</p>
      <CommandLine command={`sluice run pipeline.yaml${server}`} />
      <RunPipelineButton open={open} />
    </section>
  );
}

/** Runs that wait for a person: approvals, and runs that no process executes. The dialog outlives what it was opened by. */
function Attention({ runs, now }: { runs: readonly RunEntry[]; now: number }) {
  const approvals = runs.filter((run) => run.waitsForApproval);
  const suspended = runs.filter(({ status }) => status === 'suspended');
  const { act, dialog } = useActionDialog();
  return (
    <>
      {approvals.length + suspended.length > 0 && (
        <section class="panel attention" aria-labelledby="attention">
          <h2 id="attention">Action required</h2>
          <ul>
            {approvals.map((run) => (
              <li key={run.runId}>
                <span class="status tone-person">
                  <span class="mark" aria-hidden="true">
                    ?
                  </span>
                </span>
                <a href={linkTo(['runs', run.runId])}>{run.pipeline}</a> waits for an approval{' '}
                <span class="soft">{run.runId}</span>
                <OpenApprovals runId={run.runId} version={JSON.stringify(run.counts)} act={act} isShort />
              </li>
            ))}
            {suspended.map((run) => (
              <li key={run.runId}>
                <RunStatus status="suspended" isShort /> <a href={linkTo(['runs', run.runId])}>{run.pipeline}</a> is
                suspended: no process executes it{' '}
                <span class="soft">{`${run.runId}, started ${agoWords(beganAt(run), now)}`}</span>
              </li>
            ))}
          </ul>
        </section>
      )}
      {dialog}
    </>
  );
}

const STATUS_FILTERS = ['', 'running', 'waiting', 'suspended', 'succeeded', 'failed', 'canceled'];

function RunTable({ list, query, now, open }: RunsProps) {
  const [status, search] = [query.get('status') ?? '', query.get('q') ?? ''];
  const isShown = (run: RunEntry) => (status === '' || run.status === status) && matchRun(run, search);
  const runs = list.runs.filter(isShown);
  return (
    <section class="panel runs" aria-labelledby="runs">
      <div class="panel-head">
        <h2 id="runs">Runs</h2>
        <RunPipelineButton open={open} />
        <input
          type="search"
          aria-label="Search runs"
          placeholder="Name, ID or label=value"
          value={search}
          onInput={(event) => replaceQuery({ q: event.currentTarget.value })}
        />
        <select
          aria-label="Status"
          value={status}
          onChange={(event) => replaceQuery({ status: event.currentTarget.value })}
        >
          {STATUS_FILTERS.map((one) => (
            <option key={one} value={one}>
              {one === '' ? 'all' : one}
            </option>
          ))}
        </select>
      </div>
      <table>
        <thead>
          <tr>
            <SizedHead name="runs" label="Width of the pipelines">
              Pipeline
            </SizedHead>
            <th>Started</th>
            <th class="number">Duration</th>
            <th>Progress</th>
          </tr>
        </thead>
        <tbody>
          {runs.map((run) => (
            <RunRow key={run.runId} run={run} now={now} />
          ))}
        </tbody>
      </table>
      {runs.length === 0 && <p class="empty">No run matches.</p>}
      {list.hasMore && (
        <button type="button" onClick={() => list.loadMore()}>
          Load older runs
        </button>
      )}
    </section>
  );
}

function RunRow({ run, now }: { run: RunEntry; now: number }) {
  const startedAt = beganAt(run);
  const endedAt = run.endedAt === undefined ? now : Date.parse(run.endedAt);
  const counts = countsByCode(run.counts);
  return (
    <tr>
      <td>
        <RunStatus status={run.status} isShort />{' '}
        <a class="strong" title={run.pipeline} href={linkTo(['runs', run.runId])}>
          {run.pipeline}
        </a>
        <small class="soft id">{run.runId}</small>
        <Labels labels={run.labels ?? {}} />
        {run.problem !== undefined && <small class="bad">{run.problem}</small>}
      </td>
      <td title={`${timeWords(startedAt)} ${zoneWords(startedAt)}`}>{agoWords(startedAt, now)}</td>
      <td class="number">{run.status === 'suspended' ? '–' : renderDuration(Math.max(0, endedAt - startedAt))}</td>
      <td class="progress">
        {run.counts !== undefined && <CountBar counts={counts} />}
        <small class="soft">{run.counts === undefined ? '' : countWords(counts)}</small>
      </td>
    </tr>
  );
}

/** Each label is a link to the runs that have it. */
function Labels({ labels }: { labels: Readonly<Record<string, string>> }) {
  return (
    <>
      {labelWords(labels).map((word) => (
        <a key={word} class="label" href={linkTo([], { q: word })}>
          {word}
        </a>
      ))}
    </>
  );
}

function Pipelines({ runs, now }: { runs: readonly RunEntry[]; now: number }) {
  const names = [...new Set(runs.map(({ pipeline }) => pipeline))].slice(0, 30);
  return (
    <section class="panel" aria-labelledby="pipelines">
      <h2 id="pipelines">Last two weeks</h2>
      {names.map((name) => (
        <HistoryStrip key={name} pipeline={name} runs={runs.filter(({ pipeline }) => pipeline === name)} now={now} />
      ))}
    </section>
  );
}
