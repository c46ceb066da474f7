import type { Outcome } from '../model/planned-days.ts';
import { renderCount } from '../model/render-count.ts';

const LOOKS: Readonly<Record<Outcome, { readonly mark: string; readonly tone: string }>> = {
  succeeded: { mark: '✓', tone: 'good' },
  failed: { mark: '✕', tone: 'bad' },
  canceled: { mark: '⊘', tone: 'warn' },
  suspended: { mark: '‖', tone: 'warn' },
  running: { mark: '▶', tone: 'busy' },
  waiting: { mark: '…', tone: 'calm' },
  skipped: { mark: '↷', tone: 'calm' },
  missed: { mark: '–', tone: 'warn' },
  planned: { mark: '○', tone: 'calm' },
};

/** What became of a planned time, or of several: a shape with a color, and the word. */
export function OutcomeMark({ outcome, count }: { outcome: Outcome; count?: number }) {
  const { mark, tone } = LOOKS[outcome];
  return (
    <span class={`status tone-${tone}`} title={outcome}>
      <span class="mark" aria-hidden="true">
        {mark}
      </span>
      {count === undefined ? (
        outcome
      ) : (
        <>
          {renderCount(count)}
          <span class="hidden"> {outcome}</span>
        </>
      )}
    </span>
  );
}
