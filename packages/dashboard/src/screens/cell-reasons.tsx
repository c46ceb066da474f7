import type { CellDetails } from '@sluice/host';
import { linkTo } from '../live/route.ts';
import { codeOf } from '../model/statuses.ts';
import { Note } from '../parts/note.tsx';
import { StatusMark } from '../parts/status-mark.tsx';
import { timeWords } from '../parts/time-words.ts';

const CACHE_WORDS = {
  off: 'The step does not use the cache.',
  unasked: 'The cache has not been searched.',
  hit: 'An earlier result is reused.',
  missed: 'No earlier result could be reused.',
} as const;

/** The causes that are one word; others are sentences. */
const MISS_WORDS = new Map([
  ['unknown', 'No earlier success had the same command, inputs, image and parameters.'],
  ['expired', 'The earlier success is too old.'],
  ['dataGone', 'The outputs of the earlier success were deleted.'],
  ['dataChanged', 'The outputs of the earlier success were changed by a container.'],
  ['writesShared', 'The step writes to a shared volume.'],
  ['rerun', 'A rerun was requested, or a dependency was rerun.'],
  ['secret', 'A result of the earlier success contains the value of a secret.'],
]);

/** Why a cell is in its state. */
export function CellReasons({ value, runId }: { value: CellDetails; runId: string }) {
  const { wait, cache, dependencies, history } = value;
  return (
    <>
      {wait !== undefined && (
        <Note tone="warn">
          {wait.message} <span class="soft">since {timeWords(wait.since)}</span>
          {wait.advice !== undefined && <p>{wait.advice}</p>}
        </Note>
      )}
      {value.message !== undefined && <Note tone={value.status === 'failed' ? 'bad' : 'calm'}>{value.message}</Note>}
      <h3>Dependencies</h3>
      {dependencies.length === 0 && <p class="soft">It depends on no other step.</p>}
      <ul>
        {dependencies.map(({ step, condition, status }) => (
          <li key={`${step} ${condition}`}>
            <StatusMark code={codeOf(status)} isShort /> <a href={linkTo(['runs', runId], { step })}>{step}</a>{' '}
            <span class="soft">
              required: {condition}; now: {status}
            </span>
          </li>
        ))}
      </ul>
      <h3>Cache</h3>
      <p>
        {CACHE_WORDS[cache.kind]} {MISS_WORDS.get(cache.reason ?? '') ?? cache.reason}
      </p>
      {cache.runId !== undefined && (
        <p>
          {cache.kind === 'hit' ? 'From run ' : 'Most similar: run '}
          <a href={linkTo(['runs', cache.runId])}>{cache.runId}</a>
        </p>
      )}
      {cache.differences !== undefined && (
        <ul>
          {cache.differences.map((difference) => (
            <li key={difference}>{difference}</li>
          ))}
        </ul>
      )}
      <h3>History</h3>
      <ol class="story">
        {history.map(({ at, message }, index) => (
          <li key={index}>
            <time class="soft">{timeWords(at)}</time> {message}
          </li>
        ))}
      </ol>
    </>
  );
}
