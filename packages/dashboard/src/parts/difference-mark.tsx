import type { PlaceDifference } from '@sluice/run';

const MARKS = {
  different: { mark: '≠', tone: 'warn', words: 'different' },
  repeated: { mark: '↻', tone: 'calm', words: 'same work, executed again' },
  same: { mark: '=', tone: 'good', words: 'the same' },
  added: { mark: '+', tone: 'good', words: 'new' },
  removed: { mark: '−', tone: 'bad', words: 'removed' },
  unknown: { mark: '?', tone: 'calm', words: 'not comparable' },
} as const;

/** The result of a comparison as a symbol and a word. */
export function DifferenceMark({ verdict }: { verdict: PlaceDifference['verdict'] }) {
  const { mark, tone, words } = MARKS[verdict];
  return (
    <span class={`status tone-${tone}`}>
      <span class="mark" aria-hidden="true">
        {mark}
      </span>
      {words}
    </span>
  );
}
