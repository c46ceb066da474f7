import type { CellDetails } from '@sluice/host';
import { describeStatus } from '@sluice/run';
import { linkTo } from '../live/route.ts';
import { LogTail } from '../log/log-tail.tsx';
import { cellLabel } from '../model/cell-label.ts';
import { codeOf } from '../model/statuses.ts';
import { Note } from '../parts/note.tsx';
import { StatusMark } from '../parts/status-mark.tsx';
import { Time } from '../parts/time.tsx';

const CACHE_WORDS = {
  off: 'The step does not use the cache.',
  noLookup: 'The cache has not been searched.',
  hit: 'An earlier result is reused.',
  missed: 'No earlier result could be reused.',
} as const;

const MISS_WORDS = {
  unknown: 'No earlier success had the same command, inputs, image and parameters.',
  expired: 'The earlier success is too old.',
  dataGone: 'The outputs of the earlier success were deleted.',
  dataChanged: 'The outputs of the earlier success were changed by a container.',
  writesShared: 'The step writes to a shared volume.',
  readsShared: 'The step reads a volume to which others write.',
  rerun: 'A rerun was requested, or a dependency was rerun.',
  removed: 'Its temporary outputs were removed, and a cell that runs mounts them.',
  secret: 'A result of the earlier success contains the value of a secret.',
} as const;

function historyWords({ status, reused, reason, message, attempt }: CellDetails['history'][number]): string {
  const told = status && describeStatus({ status, ...(reused && { reused }), ...(reason && { reason }) });
  const words = [told, message].filter((word) => word !== undefined).join(': ');
  return attempt > 1 ? `${words} (attempt ${attempt})` : words;
}

/** Why a cell is in its state. */
export function CellReasons({ value, runId }: { value: CellDetails; runId: string }) {
  const { wait, cache, dependencies, history } = value;
  return (
    <>
      {wait !== undefined && <Wait wait={wait} />}
      {value.message !== undefined && <Note tone={value.status === 'failed' ? 'bad' : 'calm'}>{value.message}</Note>}
      <LastLog value={value} runId={runId} />
      {value.rootCause !== undefined && <RootCause cause={value.rootCause} runId={runId} />}
      <h2 class="fact-title">Dependencies</h2>
      {dependencies.length === 0 && <p class="soft">It depends on no other step.</p>}
      <ul>
        {dependencies.map(({ step, condition, ...now }) => (
          <li key={`${step} ${condition}`}>
            <StatusMark code={codeOf(now.status, now.reused)} isShort />{' '}
            <a href={linkTo(['runs', runId], { step })}>{step}</a>{' '}
            <span class="soft">
              required: {condition}; now: {describeStatus(now)}
            </span>
          </li>
        ))}
      </ul>
      <h2 class="fact-title">Cache</h2>
      <p>
        {CACHE_WORDS[cache.kind]} {cache.kind === 'missed' && (cache.problem ?? MISS_WORDS[cache.cause])}
      </p>
      {cache.kind === 'hit' && (
        <p>
          From run <a href={linkTo(['runs', cache.runId])}>{cache.runId}</a>
        </p>
      )}
      {cache.kind === 'missed' && cache.nearest !== undefined && (
        <>
          <p>
            Most similar: run <a href={linkTo(['runs', cache.nearest.runId])}>{cache.nearest.runId}</a>
          </p>
          <ul>
            {cache.nearest.differences.map(({ name }) => (
              <li key={name}>{name}</li>
            ))}
          </ul>
        </>
      )}
      <h2 class="fact-title">History</h2>
      <ol class="cell-history">
        {history.map((line, index) => (
          <li key={index}>
            <span class="soft">
              <Time at={line.at} />
            </span>{' '}
            {historyWords(line)}
          </li>
        ))}
      </ol>
    </>
  );
}

function Wait({ wait: { message, startedAt, advice } }: { wait: NonNullable<CellDetails['wait']> }) {
  return (
    <Note tone="warn">
      {message}{' '}
      <span class="soft">
        since <Time at={startedAt} />
      </span>
      {advice !== undefined && <p>{advice}</p>}
    </Note>
  );
}

/** The end of the log of the last attempt, if it has failed. */
function LastLog({ value, runId }: { value: CellDetails; runId: string }) {
  const last = value.attempts.at(-1);
  if (last?.failure === undefined) return null;
  const attempt = String(last.attempt);
  const path = ['runs', runId, 'steps', value.step, 'cells', String(value.cellIndex)];
  return (
    <LogTail
      lines={last.failure.logTail}
      title={`End of the log, attempt ${attempt}`}
      hrefOf={(line) => linkTo(path, { tab: 'log', attempt, line })}
    />
  );
}

function RootCause({ cause, runId }: { cause: NonNullable<CellDetails['rootCause']>; runId: string }) {
  const { step, cell, status, message } = cause;
  return (
    <p>
      Root cause: <StatusMark code={codeOf(status)} isShort />{' '}
      <a href={linkTo(['runs', runId, 'steps', step], { q: cell })}>{cellLabel({ step, cell })}</a>
      {message !== undefined && <span class="soft"> {message}</span>}
    </p>
  );
}
