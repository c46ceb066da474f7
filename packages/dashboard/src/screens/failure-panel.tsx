import type { RunDetails } from '@sluice/host';
import { useState } from 'preact/hooks';
import { linkTo } from '../live/route.ts';
import { LogTail } from '../log/log-tail.tsx';
import { CopyButton } from '../parts/copy-button.tsx';
import { FactTable } from '../parts/fact-table.tsx';

type FailureGroup = RunDetails['failureGroups'][number];

const MAX_NAMES = 5;
const MAX_SHOWN = 3;

/** What has failed in the end, by cause, with the ends of the logs, and what was skipped because of it. */
export function FailurePanel({ details }: { details: RunDetails }) {
  const { failureGroups, failureGroupCount, failedCellCount, runId } = details;
  const [isAll, setAll] = useState(false);
  if (failedCellCount === 0) return null;
  const shown = isAll ? failureGroups : failureGroups.slice(0, MAX_SHOWN);
  const left = failureGroupCount - failureGroups.length;
  return (
    <section class="panel failures" aria-labelledby="failures">
      <h2 id="failures">
        {`${failedCellCount} failed`}
        {failureGroupCount > 1 && <span class="soft"> for {failureGroupCount} reasons</span>}
      </h2>
      <div class="failure-list">
        {shown.map((group) => (
          <Failure key={`${group.step} ${group.message}`} group={group} runId={runId} />
        ))}
      </div>
      {shown.length < failureGroups.length && (
        <button type="button" onClick={() => setAll(true)}>
          {`Show ${failureGroups.length - shown.length} more`}
        </button>
      )}
      {isAll && left > 0 && <p class="soft">{`And ${left} more reasons.`}</p>}
      <Skipped details={details} />
    </section>
  );
}

function Failure({ group, runId }: { group: FailureGroup; runId: string }) {
  const { step, cells, cellCount, attempt, containerId, message, hint, logTail, axes, matrix, item } = group;
  const [first] = cells;
  const cellLink = (cellIndex: number, query = {}) =>
    linkTo(['runs', runId, 'steps', step, 'cells', String(cellIndex)], query);
  const values = { ...axes, ...matrix, ...(item !== undefined && { item }) };
  return (
    <article class="failure">
      <h3>
        <a href={first?.cell === '' ? cellLink(first.cellIndex) : linkTo(['runs', runId, 'steps', step])}>{step}</a>
        {cellCount > 1 && <span class="soft"> {cellCount} cells</span>}
        <span class="bad"> {message}</span> <CopyButton text={message} what="the error" />
      </h3>
      {first?.cell !== '' && (
        <p>
          {cells.slice(0, MAX_NAMES).map(({ cell, cellIndex }) => (
            <a key={cellIndex} class="label" href={cellLink(cellIndex)}>
              {cell}
            </a>
          ))}
          {cellCount > MAX_NAMES && (
            <a class="soft" href={linkTo(['runs', runId, 'steps', step], { status: 'failed' })}>
              {`and ${cellCount - Math.min(cells.length, MAX_NAMES)} more`}
            </a>
          )}
        </p>
      )}
      {hint !== undefined && <p class="soft">{hint}</p>}
      {Object.keys(values).length > 0 && cellCount === 1 && (
        <FactTable title="Values of the cell" values={values} level={3} />
      )}
      {first !== undefined && containerId !== undefined && (
        <LogTail
          lines={logTail}
          title={`End of the log${first.cell === '' ? '' : ` of ${first.cell}`}, attempt ${attempt}`}
          hrefOf={(line) => cellLink(first.cellIndex, { tab: 'log', attempt: String(attempt), line })}
        />
      )}
    </article>
  );
}

function Skipped({ details: { skippedSteps, runId } }: { details: RunDetails }) {
  if (skippedSteps.length === 0) return null;
  return (
    <details open={skippedSteps.length <= MAX_NAMES}>
      <summary>{`Skipped because of it: ${skippedSteps.length === 1 ? '1 step' : `${skippedSteps.length} steps`}`}</summary>
      <ul>
        {skippedSteps.map(({ step, cellCount, message }) => (
          <li key={step}>
            <a href={linkTo(['runs', runId, 'steps', step])}>{step}</a>
            {cellCount > 1 && ` (${cellCount} cells)`} <span class="soft">{message}</span>
          </li>
        ))}
      </ul>
    </details>
  );
}
