import type { CellDetails, RunDetails } from '@sluice/host';
import { describeStatus, ENDED_STATUSES } from '@sluice/run';
import { StepActions } from '../actions/run-actions.tsx';
import { useActionDialog } from '../actions/use-action-dialog.tsx';
import type { LiveRun } from '../live/open-run.ts';
import { linkTo, type Route, replaceQuery } from '../live/route.ts';
import { useReply } from '../live/use-reply.ts';
import { useStore } from '../live/use-store.ts';
import { LogView } from '../log/log-view.tsx';
import { codeOf } from '../model/statuses.ts';
import { Loading } from '../parts/loading.tsx';
import { Note } from '../parts/note.tsx';
import { StatusMark } from '../parts/status-mark.tsx';
import { Trail } from '../parts/trail.tsx';
import { CellAttempts } from './cell-attempts.tsx';
import { CellData } from './cell-data.tsx';
import { CellReasons } from './cell-reasons.tsx';
import { OpenApprovals } from './open-approvals.tsx';
import { WhyDifferent } from './why-different.tsx';

const TABS = ['log', 'why', 'attempts', 'data'] as const;
type Tab = (typeof TABS)[number];
const LABELS: Readonly<Record<Tab, string>> = { log: 'Log', why: 'Why', attempts: 'Attempts', data: 'Data' };

interface CellProps {
  readonly run: LiveRun;
  readonly route: Route;
  readonly name: string;
  readonly cell: number;
}

/** One cell: its log, why it is in its state, its attempts and its data. */
export function CellScreen({ run, route, name, cell }: CellProps) {
  useStore(run);
  const { details, model } = run;
  const step = details?.plan.steps.findIndex((one) => one.step === name) ?? -1;
  const code = model?.cells[step]?.[cell];
  const query = { step: name, cellIndex: cell };
  const path = details === undefined ? undefined : `runs/${encodeURIComponent(run.runId)}/cell`;
  const { value, error } = useReply<CellDetails>(path, query, `${code} ${run.history?.last[step]?.[cell]}`);
  if (details === undefined) return <Loading what="the run" connection={run.connection} error={run.error} />;
  if (error !== undefined)
    return (
      <>
        <h1 class="hidden">No cell</h1>
        <Note tone="bad">{error}</Note>
      </>
    );
  if (value === undefined) return <p class="soft">Loading the cell…</p>;
  return <LoadedCell {...{ run, route, details, value }} />;
}

interface LoadedProps {
  readonly run: LiveRun;
  readonly route: Route;
  readonly details: RunDetails;
  readonly value: CellDetails;
}

function LoadedCell({ run, route, details, value }: LoadedProps) {
  const { act, dialog } = useActionDialog();
  const asked = route.query.get('tab') as Tab | null;
  const hasLog = value.attempts.some(({ containerId }) => containerId !== undefined);
  const tab = asked !== null && TABS.includes(asked) ? asked : hasLog ? 'log' : 'why';
  const attempt = Number(route.query.get('attempt') ?? value.attempts.at(-1)?.attempt ?? 0);
  return (
    <div class="cell">
      <Trail details={details} steps={value.cell === '' ? [value.step] : [value.step, value.cell]} />
      <CellHead runId={run.runId} status={run.status ?? details.status} value={value} />
      {value.status === 'awaitingApproval' && (
        <OpenApprovals
          runId={run.runId}
          step={value.step}
          cellIndex={value.cellIndex}
          version={value.position}
          act={act}
        />
      )}
      {dialog}
      <div class="tabs">
        <TabList tab={tab} />
        {tab === 'log' && value.attempts.length > 1 && <AttemptChoice value={value} attempt={attempt} />}
      </div>
      <div id="tab-panel" role="tabpanel" aria-labelledby={`tab-${tab}`} class="tab-panel">
        {tab === 'log' && (
          <CellLog
            runId={run.runId}
            value={value}
            attempt={attempt}
            line={Number(route.query.get('line')) || undefined}
          />
        )}
        {tab === 'why' && (
          <>
            <CellReasons value={value} runId={run.runId} />
            <WhyDifferent
              runId={run.runId}
              pipeline={details.pipeline}
              step={value.step}
              cellIndex={value.cellIndex}
              other={route.query.get('against') ?? undefined}
              version={value.status}
            />
          </>
        )}
        {tab === 'attempts' && (
          <CellAttempts value={value} instanceType={details.plan.steps[value.stepIndex]?.instanceType} />
        )}
        {tab === 'data' && <CellData value={value} runId={run.runId} />}
      </div>
    </div>
  );
}

function TabList({ tab }: { tab: Tab }) {
  return (
    <div class="buttons" role="tablist" onKeyDown={(event) => moveTab(event, tab)}>
      {TABS.map((one) => (
        <button
          key={one}
          type="button"
          role="tab"
          id={`tab-${one}`}
          aria-selected={one === tab}
          aria-controls="tab-panel"
          tabIndex={one === tab ? 0 : -1}
          onClick={() => replaceQuery({ tab: one })}
        >
          {LABELS[one]}
        </button>
      ))}
    </div>
  );
}

interface HeadProps {
  readonly runId: string;
  /** Of the run. */
  readonly status: RunDetails['status'];
  readonly value: CellDetails;
}

function CellHead({ runId, status, value }: HeadProps) {
  return (
    <header class="run-head">
      <div>
        <h1>
          {value.cell === '' ? value.step : `${value.step} / ${value.cell}`}{' '}
          <StatusMark code={codeOf(value.status, value.reused)} />
        </h1>
        <p class="soft">{value.message ?? value.wait?.message}</p>
        {Object.entries(value.ports ?? {}).map(([port, { url }]) => (
          <p key={port}>
            {`port ${port}: `}
            <a href={url} target="_blank" rel="noreferrer">
              {url}
            </a>
          </p>
        ))}
      </div>
      <StepActions runId={runId} status={status} step={value.step} />
    </header>
  );
}

function AttemptChoice({ value, attempt }: { value: CellDetails; attempt: number }) {
  return (
    <select
      aria-label="Attempt"
      value={String(attempt)}
      onChange={(event) => replaceQuery({ attempt: event.currentTarget.value, line: undefined })}
    >
      {value.attempts.map((one) => (
        <option
          key={one.attempt}
          value={String(one.attempt)}
        >{`attempt ${one.attempt}, ${describeStatus(one)}`}</option>
      ))}
    </select>
  );
}

interface LogProps {
  readonly runId: string;
  readonly value: CellDetails;
  readonly attempt: number;
  readonly line: number | undefined;
}

function CellLog({ runId, value, attempt, line }: LogProps) {
  const chosen = value.attempts.find((one) => one.attempt === attempt);
  if (chosen === undefined) return <p class="empty">The cell has no attempt yet, so it has no log.</p>;
  const source = { path: `runs/${encodeURIComponent(runId)}/log`, step: value.step, cell: value.cellIndex, attempt };
  return (
    <LogView
      key={JSON.stringify(source)}
      source={source}
      isOpen={!ENDED_STATUSES.has(chosen.status)}
      hasFailed={chosen.failure !== undefined}
      line={line}
      hrefOf={(to) =>
        linkTo(['runs', runId, 'steps', value.step, 'cells', String(value.cellIndex)], {
          ...{ tab: 'log', attempt: String(attempt), line: to },
        })
      }
    />
  );
}

function moveTab(event: KeyboardEvent, tab: Tab): void {
  const step = event.key === 'ArrowRight' ? 1 : event.key === 'ArrowLeft' ? -1 : 0;
  if (step === 0 || (event.target as Element).role !== 'tab') return;
  const next = TABS[(TABS.indexOf(tab) + step + TABS.length) % TABS.length]!;
  replaceQuery({ tab: next });
  document.getElementById(`tab-${next}`)?.focus();
}
