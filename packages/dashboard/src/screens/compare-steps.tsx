import type { RunDetails, StepDifferences } from '@sluice/host';
import { useState } from 'preact/hooks';
import { replaceQuery } from '../live/route.ts';
import { useReply } from '../live/use-reply.ts';
import { beganAt } from '../model/began-at.ts';
import { DifferenceMark } from '../parts/difference-mark.tsx';
import { Note } from '../parts/note.tsx';
import { timeWords } from '../parts/time-words.ts';
import { LoadedDifference } from './why-different.tsx';

type Step = StepDifferences['steps'][number];

const UNCHANGED: ReadonlySet<Step['verdict']> = new Set(['same', 'repeated']);

/** Why the steps of two of the compared runs differ. */
export function CompareSteps({ runs, query }: { runs: readonly RunDetails[]; query: URLSearchParams }) {
  const byTime = runs.toSorted((a, b) => beganAt(b) - beganAt(a));
  const chosen = (name: string, otherwise: RunDetails | undefined) =>
    runs.find(({ runId }) => runId === query.get(name)) ?? otherwise;
  const run = chosen('of', byTime[0])!;
  const other = chosen(
    'against',
    byTime.find(({ runId }) => runId !== run.runId),
  )!;
  return (
    <section class="panel" aria-labelledby="why-steps">
      <div class="panel-head">
        <h2 id="why-steps">Why the steps differ</h2>
        <RunChoice label="run" name="of" runs={byTime} chosen={run} />
        <RunChoice label="compared with" name="against" runs={byTime} chosen={other} />
      </div>
      {run === other ? <p class="soft">Choose two different runs.</p> : <Steps run={run} other={other} />}
    </section>
  );
}

interface ChoiceProps {
  readonly label: string;
  readonly name: string;
  readonly runs: readonly RunDetails[];
  readonly chosen: RunDetails;
}

function RunChoice({ label, name, runs, chosen }: ChoiceProps) {
  return (
    <label>
      {label}{' '}
      <select value={chosen.runId} onChange={(event) => replaceQuery({ [name]: event.currentTarget.value })}>
        {runs.map((run) => (
          <option key={run.runId} value={run.runId}>{`${timeWords(beganAt(run))} ${run.runId}`}</option>
        ))}
      </select>
    </label>
  );
}

function Steps({ run, other }: { run: RunDetails; other: RunDetails }) {
  const path = `runs/${encodeURIComponent(run.runId)}/step-differences`;
  const { value, error } = useReply<StepDifferences>(path, { with: other.runId });
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
function StepRow({ run, other, step }: { run: RunDetails; other: RunDetails; step: Step }) {
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
        {head} <span class="soft">{step.message}</span>
      </p>
    );
  return (
    <details class="why-step" onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>
        {head}
        <span class="block">{step.message}</span>
      </summary>
      {isOpen && (
        <LoadedDifference runId={run.runId} step={step.step} other={other.runId} version={0} hasAnswer={false} />
      )}
    </details>
  );
}
