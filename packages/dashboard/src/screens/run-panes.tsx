import type { RunDetails } from '@sluice/host';
import { summarizeCounts } from '@sluice/run';
import { useMemo, useState } from 'preact/hooks';
import { GraphCanvas } from '../draw/graph-canvas.tsx';
import type { PlanSteps } from '../layout/plan-shape.ts';
import { type DrawnGraph, useLayout } from '../layout/use-layout.ts';
import type { LiveRun } from '../live/open-run.ts';
import { replaceQuery } from '../live/route.ts';
import type { CellSearch } from '../live/use-cell-search.ts';
import { countsOf, type RunModel } from '../model/run-model.ts';
import { STATUSES } from '../model/statuses.ts';
import { ErrorBoundary } from '../parts/error-boundary.tsx';
import { Note } from '../parts/note.tsx';
import { type Selection, Timeline } from '../parts/timeline.tsx';
import { GridPane } from './grid-pane.tsx';
import { linkToSelection, soleCell } from './link-to-selection.ts';
import { SelectedStep } from './selected-step.tsx';
import { useShownSteps } from './use-shown-steps.ts';

interface PanesProps {
  readonly run: LiveRun;
  readonly details: RunDetails;
  readonly model: RunModel;
  readonly query: URLSearchParams;
  readonly search: CellSearch;
  readonly times: { readonly startedAt: number; readonly now: number; readonly end: number };
}

/** Graph and timeline next to each other; on narrow screens one of them. */
export function RunPanes({ run, details, model, query, search, times }: PanesProps) {
  const { steps } = details.plan;
  const { expanded, toggle } = useExpanded(model);
  const drawn = useLayout(steps, expanded);
  const shown = useShownSteps(steps, model, { query, search });
  const rows = useRows(steps, shown, expanded);
  const selected = findSelection(steps, query);
  const critical = useCritical(details);
  const { select, open } = createNavigation(run.runId, steps, model);
  const isTimeline = query.get('view') === 'timeline';
  const hasAxes = steps.some(({ each }) => each !== undefined);
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
      <PaneTabs view={isTimeline ? 'timeline' : 'graph'} hasGrid={hasAxes} />
      <div class={`panes ${isTimeline ? 'shows-timeline' : 'shows-graph'}`}>
        <ErrorBoundary key="graph" what="The graph">
          <GraphPane {...{ steps, model, critical, drawn, shown, select, open, toggle }} selected={selected?.step} />
        </ErrorBoundary>
        <ErrorBoundary key="timeline" what="The timeline">
          <Timeline
            {...{ rows, steps, model, history: run.history, names: run.names, selected, expanded, critical, ...times }}
            onSelect={select}
            onOpen={open}
            onToggle={toggle}
          />
        </ErrorBoundary>
      </div>
      <p class="hidden" aria-live="polite">
        {selected === undefined
          ? ''
          : `${steps[selected.step]!.step}: ${STATUSES[summarizeCounts(countsOf(model, selected.step))]!.label}`}
      </p>
      {selected !== undefined && (
        <ErrorBoundary of={`${selected.step}/${selected.cell}`} what="The selected step">
          <SelectedStep
            {...{ run, details, model, selection: selected, times }}
            isExpanded={expanded.has(selected.step)}
            onToggle={() => toggle(selected.step)}
            onClose={() => select(undefined)}
          />
        </ErrorBoundary>
      )}
    </>
  );
}

interface GraphPaneProps extends ReturnType<typeof createNavigation> {
  readonly steps: PlanSteps;
  readonly model: RunModel;
  readonly critical: ReadonlySet<number>;
  /** Undefined until the layout is known. */
  readonly drawn: DrawnGraph | undefined;
  readonly shown: Uint8Array;
  readonly selected: number | undefined;
  readonly toggle: (step: number) => void;
}

function GraphPane({ steps, model, critical, drawn, shown, selected, select, open, toggle }: GraphPaneProps) {
  if (drawn === undefined) return <div class="graph soft">Drawing…</div>;
  return (
    <GraphCanvas
      {...{
        steps,
        model,
        critical,
        expanded: drawn.expanded,
        drawing: drawn.drawing,
        ends: drawn.ends,
        selected,
        shown,
      }}
      onSelect={(step) => select(step === undefined ? undefined : { step })}
      onOpen={(step) => open({ step })}
      onToggle={toggle}
      label={graphLabel(steps, selected)}
    />
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

function useCritical({ criticalPath, plan }: RunDetails): ReadonlySet<number> {
  return useMemo(() => {
    const names = new Set(criticalPath.map(({ step }) => step));
    return new Set(plan.steps.flatMap(({ step: name }, step) => (names.has(name) ? [step] : [])));
  }, [criticalPath]);
}

/** Selecting changes the URL of this screen, opening leads to another. */
function createNavigation(runId: string, steps: PlanSteps, model: RunModel) {
  return {
    select: (selection: Selection | undefined) =>
      replaceQuery({
        step: selection === undefined ? undefined : steps[selection.step]!.step,
        cell: selection?.cell === undefined ? undefined : String(selection.cell),
      }),
    open: ({ step, cell = soleCell(model, step) }: Selection) => {
      location.hash = linkToSelection(runId, steps, { step, cell });
    },
  };
}

function findSelection(steps: PlanSteps, query: URLSearchParams): Selection | undefined {
  const step = steps.findIndex(({ step: name }) => name === query.get('step'));
  if (step === -1) return undefined;
  const cell = query.get('cell');
  return cell === null ? { step } : { step, cell: Number(cell) };
}

/** The shown steps by their column in the graph, each followed by its cells if it is expanded. */
function useRows(steps: PlanSteps, shown: Uint8Array, expanded: ReadonlyMap<number, number>): Selection[] {
  const order = useMemo(
    () => steps.map((_, step) => step).sort((a, b) => steps[a]!.level - steps[b]!.level || a - b),
    [steps],
  );
  return useMemo(
    () =>
      order.flatMap((step) => {
        if (shown[step] === 0) return [];
        return [{ step }, ...Array.from({ length: expanded.get(step) ?? 0 }, (_, cell) => ({ step, cell }))];
      }),
    [order, shown, expanded],
  );
}

function graphLabel(steps: PlanSteps, selected: number | undefined): string {
  const state = selected === undefined ? 'nothing selected' : `selected: ${steps[selected]!.step}`;
  return `Graph of ${steps.length === 1 ? '1 step' : `${steps.length} steps`}, ${state}. Arrow keys select along the edges, Enter opens, E shows the cells. The tree of steps has the same contents.`;
}
