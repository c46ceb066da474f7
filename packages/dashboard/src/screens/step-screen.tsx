import type { CellList, RunDetails } from '@sluice/host';
import { summarizeCounts } from '@sluice/run';
import { useState } from 'preact/hooks';
import { StepActions } from '../actions/run-actions.tsx';
import { useActionDialog } from '../actions/use-action-dialog.tsx';
import type { LiveRun } from '../live/open-run.ts';
import { linkTo, type Route, replaceQuery } from '../live/route.ts';
import { useReply } from '../live/use-reply.ts';
import { useStore } from '../live/use-store.ts';
import { useThrottled } from '../live/use-throttled.ts';
import { renderCount } from '../model/render-count.ts';
import { countsOf } from '../model/run-model.ts';
import { AWAITING_APPROVAL, codeOf, STATUSES } from '../model/statuses.ts';
import { CountBar, countWords } from '../parts/count-bar.tsx';
import { Loading } from '../parts/loading.tsx';
import { Note } from '../parts/note.tsx';
import { PageButtons } from '../parts/page-buttons.tsx';
import { SizedHead } from '../parts/sized-head.tsx';
import { StatusMark } from '../parts/status-mark.tsx';
import { TOOK, tookWords } from '../parts/time-words.ts';
import { Trail } from '../parts/trail.tsx';
import { HeatPanel } from './heat-panel.tsx';
import { OpenApprovals } from './open-approvals.tsx';
import { WhyDifferent } from './why-different.tsx';

const REFRESH_MS = 2_000;

/** A step with its cells: as a map of their axes, and page by page. */
export function StepScreen({ run, route, name }: { run: LiveRun; route: Route; name: string }) {
  useStore(run);
  const { act, dialog } = useActionDialog();
  const { details, model } = run;
  const version = useThrottled(model?.version ?? 0, REFRESH_MS);
  if (details === undefined || model === undefined)
    return <Loading what="the run" connection={run.connection} error={run.error} />;
  const step = details.plan.steps.findIndex((one) => one.step === name);
  if (step === -1)
    return (
      <>
        <h1 class="hidden">No step</h1>
        <Note tone="bad">The run has no step {name}.</Note>
      </>
    );
  const counts = countsOf(model, step);
  const status = run.status ?? details.status;
  return (
    <>
      <Trail details={details} steps={[name]} />
      <header class="run-head">
        <div>
          <h1>
            {name} <StatusMark code={summarizeCounts(counts)} />
          </h1>
          <p class="soft">{details.plan.steps[step]!.description ?? details.plan.steps[step]!.image}</p>
        </div>
        <div class="run-progress">
          <CountBar counts={counts} />
          <small class="soft">{countWords(counts)}</small>
        </div>
        <StepActions runId={run.runId} status={status} step={name} />
      </header>
      {counts[AWAITING_APPROVAL]! > 0 && (
        <OpenApprovals runId={run.runId} step={name} version={[...counts].join()} act={act} />
      )}
      {dialog}
      {details.plan.steps[step]!.cells !== 1 && (
        <p>
          <a href={linkTo(['compare'], { run: run.runId, step: name })}>Compare the cells</a>
        </p>
      )}
      <HeatPanel
        runId={run.runId}
        step={name}
        query={route.query}
        count={model.cells[step]!.length}
        version={version}
      />
      <CellTable details={details} name={name} query={route.query} version={[...counts].join()} />
      <WhyDifferent
        runId={run.runId}
        pipeline={details.pipeline}
        step={name}
        other={route.query.get('against') ?? undefined}
        version={summarizeCounts(counts)}
      />
    </>
  );
}

type Pages = readonly (string | undefined)[];

const PAGE_SIZE = 100;
const FIRST_PAGE: Pages = [undefined];
const STATUS_FILTERS = [...new Set(STATUSES.map(({ status }) => status))];

interface CellTableProps {
  readonly details: RunDetails;
  readonly name: string;
  readonly query: URLSearchParams;
  /** Changes when the cells have changed. */
  readonly version: string;
}

function CellTable({ details, name, query, version }: CellTableProps) {
  const [status, search] = [query.get('status') ?? undefined, query.get('q') ?? undefined];
  // A token belongs to one filter.
  const filtered = JSON.stringify([status, search]);
  const [opened, setOpened] = useState<{ readonly filtered: string; readonly pages: Pages }>({
    filtered,
    pages: FIRST_PAGE,
  });
  const pages = opened.filtered === filtered ? opened.pages : FIRST_PAGE;
  const { value, error } = useReply<CellList>(
    `runs/${encodeURIComponent(details.runId)}/cells`,
    { step: name, status, search, pageSize: PAGE_SIZE, pageToken: pages.at(-1) },
    version,
  );
  return (
    <section class="panel" aria-labelledby="cells">
      <div class="panel-head">
        <h2 id="cells">Cells{value === undefined ? '' : ` (${renderCount(value.total)})`}</h2>
        <input
          type="search"
          aria-label="Search cells"
          placeholder="Search"
          value={search ?? ''}
          onInput={(event) => replaceQuery({ q: event.currentTarget.value })}
        />
        <select
          aria-label="Status"
          value={status ?? ''}
          onChange={(event) => replaceQuery({ status: event.currentTarget.value })}
        >
          <option value="">all</option>
          {STATUS_FILTERS.map((one) => (
            <option key={one}>{one}</option>
          ))}
        </select>
      </div>
      {error !== undefined && <Note tone="bad">{error}</Note>}
      <CellRows cells={value?.cells ?? []} runId={details.runId} />
      {value?.cells.length === 0 && <p class="empty">No cell matches.</p>}
      <PageButtons
        pages={pages}
        next={value?.nextPageToken}
        onChange={(next) => setOpened({ filtered, pages: next })}
      />
    </section>
  );
}

function CellRows({ cells, runId }: { cells: CellList['cells']; runId: string }) {
  return (
    <table>
      <thead>
        <tr>
          <SizedHead name="cells" label="Width of the names">
            Cell
          </SizedHead>
          <th class="number">Attempt</th>
          <th class="number" title={TOOK}>
            Took
          </th>
          <th>Message</th>
        </tr>
      </thead>
      <tbody>
        {cells.map((cell) => (
          <tr key={cell.cellIndex}>
            <td class="named">
              <StatusMark code={codeOf(cell.status, cell.reused)} isShort />{' '}
              <a
                class="name"
                title={cell.cell}
                href={linkTo(['runs', runId, 'steps', cell.step, 'cells', String(cell.cellIndex)])}
              >
                {cell.cell === '' ? cell.step : cell.cell}
              </a>
            </td>
            <td class="number">{cell.attempt}</td>
            <td class="number">{tookWords(cell)}</td>
            <td class="soft">{cell.message}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
