import type { RunDetails } from '@sluice/host';
import { replaceQuery } from '../live/route.ts';
import { beganAt } from '../model/began-at.ts';
import { ErrorBoundary } from '../parts/error-boundary.tsx';
import { timeWords } from '../parts/time-words.ts';
import { CompareSteps } from './compare-steps.tsx';
import { CompareTimelines } from './compare-timelines.tsx';
import { DifferentCells } from './different-cells.tsx';

/** What differs between two of the compared runs. The choice of the two is part of the URL. */
export function ComparePair({ runs, query }: { runs: readonly RunDetails[]; query: URLSearchParams }) {
  const byTime = runs.toSorted((a, b) => beganAt(b) - beganAt(a));
  const chosen = (name: string, otherwise: RunDetails | undefined) =>
    runs.find(({ runId }) => runId === query.get(name)) ?? otherwise;
  const run = chosen('of', byTime[0])!;
  const other = chosen(
    'against',
    byTime.find(({ runId }) => runId !== run.runId),
  )!;
  return (
    <>
      <section class="panel" aria-label="Two of the runs">
        <div class="buttons">
          <RunChoice label="Run A" name="of" runs={byTime} chosen={run} />
          <RunChoice label="compared with run B" name="against" runs={byTime} chosen={other} />
        </div>
        {run === other && <p class="soft">Choose two different runs.</p>}
      </section>
      {run !== other && (
        <ErrorBoundary of={`${run.runId} ${other.runId}`} what="The comparison of two runs">
          <CompareTimelines {...{ run, other, query }} />
          <CompareSteps run={run} other={other} />
          <DifferentCells {...{ run, other, query }} />
        </ErrorBoundary>
      )}
    </>
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
