import { useMemo, useState } from 'preact/hooks';
import { replaceQuery } from '../live/route.ts';
import type { RunModel } from '../model/run-model.ts';
import { ErrorBoundary } from '../parts/error-boundary.tsx';
import { Note } from '../parts/note.tsx';
import { GridPane } from './grid-pane.tsx';
import { RunWorkspace, type WorkspaceProps } from './run-workspace.tsx';

/** The views of a run: graph and timeline, or its grid. */
export function RunPanes(props: Omit<WorkspaceProps, 'expanded' | 'toggle'>) {
  const { run, details, model, query } = props;
  const { expanded, toggle } = useExpanded(model);
  const hasAxes = details.plan.steps.some(({ each }) => each !== undefined);
  if (hasAxes && query.get('view') === 'grid') {
    return (
      <>
        <PaneTabs view="grid" hasGrid />
        {model !== run.model && <Note>The grid shows the present.</Note>}
        <ErrorBoundary what="The grid">
          <GridPane {...{ run, details, query }} />
        </ErrorBoundary>
      </>
    );
  }
  return (
    <>
      <PaneTabs view={query.get('view') === 'timeline' ? 'timeline' : 'graph'} hasGrid={hasAxes} />
      <RunWorkspace {...props} {...{ expanded, toggle }} />
    </>
  );
}

/** On narrow screens, graph or timeline; with axes on all screens, these or the grid. */
function PaneTabs({ view, hasGrid }: { view: 'graph' | 'timeline' | 'grid'; hasGrid: boolean }) {
  return (
    <div class={`tabs ${hasGrid ? '' : 'narrow'}`}>
      <button type="button" aria-pressed={view === 'graph'} onClick={() => replaceQuery({ view: undefined })}>
        Graph
      </button>
      <button
        class="narrow"
        type="button"
        aria-pressed={view === 'timeline'}
        onClick={() => replaceQuery({ view: 'timeline' })}
      >
        Timeline
      </button>
      {hasGrid && (
        <button type="button" aria-pressed={view === 'grid'} onClick={() => replaceQuery({ view: 'grid' })}>
          Grid
        </button>
      )}
    </div>
  );
}

/** The steps that are shown with their cells, each with the number of cells. */
function useExpanded(model: RunModel) {
  const [chosen, setChosen] = useState<ReadonlySet<number>>(new Set());
  const counts = [...chosen].map((step) => model.cells[step]!.length).join();
  const expanded = useMemo(
    () => new Map([...chosen].map((step) => [step, model.cells[step]!.length])),
    [chosen, counts],
  );
  const toggle = (step: number) => {
    if (model.cells[step]!.length <= 1) return;
    const next = new Set(chosen);
    if (!next.delete(step)) next.add(step);
    setChosen(next);
  };
  return { expanded, toggle };
}
