import type { CellMatches } from '@sluice/host';
import { linkTo } from '../live/route.ts';
import type { CellSearch } from '../live/use-cell-search.ts';
import { renderCount } from '../model/render-count.ts';
import type { RunModel } from '../model/run-model.ts';
import { Note } from '../parts/note.tsx';
import { StatusMark } from '../parts/status-mark.tsx';

interface FoundProps {
  readonly runId: string;
  readonly model: RunModel;
  readonly search: CellSearch;
  readonly text: string;
}

/** The cells that the search of a run has found, below their steps. */
export function FoundCells({ runId, model, search, text }: FoundProps) {
  const { value, error, isSearching } = search;
  const steps = value?.steps.filter(({ cells }) => cells.length > 0) ?? [];
  return (
    <section class="panel found-cells" aria-labelledby="found-cells" aria-busy={isSearching}>
      <h2 id="found-cells">Cells</h2>
      {error !== undefined && !isSearching && <Note tone="bad">{error}</Note>}
      <p class="soft" role="status">
        {isSearching ? 'Searching the names of cells…' : value === undefined ? '' : totalWords(value)}
      </p>
      {steps.length > 0 && (
        <div class="found-steps">
          {steps.map((step) => (
            <FoundStep key={step.stepIndex} {...{ runId, model, text, step }} />
          ))}
        </div>
      )}
    </section>
  );
}

interface StepProps extends Pick<FoundProps, 'runId' | 'model' | 'text'> {
  readonly step: CellMatches['steps'][number];
}

function FoundStep({ runId, model, text, step: { step, stepIndex, total, cells } }: StepProps) {
  return (
    <div>
      <h3>
        {step} <span class="soft">({renderCount(total)})</span>
      </h3>
      <ul>
        {cells.map(({ cell, cellIndex }) => (
          <li key={cellIndex}>
            <StatusMark code={model.cells[stepIndex]?.[cellIndex] ?? 0} isShort />{' '}
            <a href={linkTo(['runs', runId, 'steps', step, 'cells', String(cellIndex)])}>{cell}</a>
          </li>
        ))}
        {cells.length < total && (
          <li>
            <a href={linkTo(['runs', runId, 'steps', step], { q: text })}>
              all {renderCount(total)} of {step}
            </a>
          </li>
        )}
      </ul>
    </div>
  );
}

function totalWords({ steps, total }: CellMatches): string {
  if (total === 0) return 'No cell has such a name.';
  const shown = steps.reduce((sum, { cells }) => sum + cells.length, 0);
  const words = total === 1 ? '1 cell has such a name' : `${renderCount(total)} cells have such a name`;
  return shown < total ? `${words}; the first ${shown} by step.` : `${words}.`;
}
