import type { StepDifferences } from '@sluice/host';
import { useState } from 'preact/hooks';
import { useReply } from '../live/use-reply.ts';
import { type RunPair, versionOf } from '../model/run-pair.ts';
import { DifferenceMark } from '../parts/difference-mark.tsx';
import { nameWords } from '../parts/name-words.ts';
import { Note } from '../parts/note.tsx';
import { LoadedDifference } from './why-different.tsx';

type Step = StepDifferences['steps'][number];

const UNCHANGED: ReadonlySet<Step['verdict']> = new Set(['same', 'repeated']);

/** Why the steps of two runs differ. */
export function CompareSteps(pair: RunPair) {
  return (
    <section class="panel" aria-labelledby="why-steps">
      <h2 id="why-steps">Why the steps differ</h2>
      <Steps {...pair} />
    </section>
  );
}

function Steps({ run, other }: RunPair) {
  const path = `runs/${encodeURIComponent(run.runId)}/step-differences`;
  const { value, error } = useReply<StepDifferences>(path, { with: other.runId }, versionOf({ run, other }));
  if (error !== undefined) return <Note tone="bad">{error}</Note>;
  if (value === undefined) return <p class="soft">Comparing the steps…</p>;
  const changed = value.steps.filter(({ verdict }) => !UNCHANGED.has(verdict));
  const unchanged = value.steps.length - changed.length;
  return (
    <>
      {changed.map((step) => (
        <StepRow key={`${run.runId} ${other.runId} ${step.step}`} {...{ run, other, step }} />
      ))}
      <p class="soft">
        {changed.length === 0 ? 'No step differs: ' : ''}
        {unchanged === 1 ? '1 step' : `${unchanged} steps`} did the same work in both runs.
        {value.steps.length < value.total && ` Only the first ${value.steps.length} of ${value.total} were compared.`}
      </p>
    </>
  );
}

/** A step with its answer; all differences are loaded when it is opened. */
function StepRow({ run, other, step }: RunPair & { step: Step }) {
  const [isOpen, setOpen] = useState(false);
  const count = step.cellCount > 1 ? ` (${step.differentCount} of ${step.cellCount} cells)` : '';
  const head = (
    <>
      <DifferenceMark verdict={step.verdict} /> <b>{step.step}</b>
      <span class="soft">{count}</span>
    </>
  );
  if (step.verdict !== 'different')
    return (
      <p>
        {head} <span class="soft">{nameWords(step.message)}</span>
      </p>
    );
  return (
    <details class="why-step" onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>
        {head}
        <span class="block">{nameWords(step.message)}</span>
      </summary>
      {isOpen && (
        <LoadedDifference
          runId={run.runId}
          step={step.step}
          other={other.runId}
          version={versionOf({ run, other })}
          hasAnswer={false}
        />
      )}
    </details>
  );
}
