import type { RunDetails } from '@sluice/host';
import { summarizeCounts } from '@sluice/run';
import { useEffect, useMemo, useState } from 'preact/hooks';
import { GraphCanvas } from '../draw/graph-canvas.tsx';
import type { Drawing } from '../layout/index-layout.ts';
import { type PlanSteps, planShape, shapeDigest } from '../layout/plan-shape.ts';
import { requestLayout } from '../layout/request-layout.ts';
import type { LiveRun } from '../live/open-run.ts';
import { replaceQuery } from '../live/route.ts';
import type { CellSearch } from '../live/use-cell-search.ts';
import { findGaps } from '../model/find-gaps.ts';
import { countsOf, type RunModel } from '../model/run-model.ts';
import { STATUSES } from '../model/statuses.ts';
import { ErrorBoundary } from '../parts/error-boundary.tsx';
import { Timeline } from '../parts/timeline.tsx';
import type { Selection } from '../parts/timeline-row.tsx';
import { linkToSelection, soleCell } from './link-to-selection.ts';
import { SelectedStep } from './selected-step.tsx';
import { useRows } from './use-rows.ts';
import { useShownSteps } from './use-shown-steps.ts';

/** A run, what of it is shown, and the times of that. */
export interface WorkspaceProps {
  readonly run: LiveRun;
  readonly details: RunDetails;
  readonly model: RunModel;
  readonly query: URLSearchParams;
  readonly search: CellSearch;
  readonly times: { readonly startedAt: number; readonly now: number; readonly end: number };
  /** The steps that are shown with their cells, each with the number of cells. */
  readonly expanded: ReadonlyMap<number, number>;
  readonly toggle: (step: number) => void;
}

/** Graph and timeline next to each other, and the selected step beside them; on narrow screens one of the two, and the step below. */
export function RunWorkspace({ run, details, model, query, search, times, expanded, toggle }: WorkspaceProps) {
  const { steps } = details.plan;
  const drawn = useLayout(steps, expanded);
  const shown = useShownSteps(steps, model, { query, search });
  const rows = useRows({ steps, model, shown, expanded });
  const selected = findSelection(steps, query);
  const critical = useCritical(details);
  const gaps = useMemo(() => findGaps(details.resumes, times.startedAt), [details.resumes, times.startedAt]);
  const { select, open } = createNavigation(run.runId, steps, model);
  const isTimeline = query.get('view') === 'timeline';
  return (
    <>
      <div class={`workspace ${selected === undefined ? '' : 'has-side'}`}>
        <div class={`panes ${isTimeline ? 'shows-timeline' : 'shows-graph'}`}>
          <ErrorBoundary key="graph" what="The graph">
            <GraphPane {...{ steps, model, critical, drawn, shown, select, open, toggle }} selected={selected?.step} />
          </ErrorBoundary>
          <ErrorBoundary key="timeline" what="The timeline">
            <Timeline
              {...{
                rows,
                steps,
                model,
                history: run.history,
                names: run.names,
                selected,
                expanded,
                critical,
                gaps,
                ...times,
              }}
              onSelect={select}
              onOpen={open}
              onToggle={toggle}
            />
          </ErrorBoundary>
        </div>
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
      </div>
      <p class="hidden" aria-live="polite">
        {selected === undefined
          ? ''
          : `${steps[selected.step]!.step}: ${STATUSES[summarizeCounts(countsOf(model, selected.step))]!.label}`}
      </p>
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

interface DrawnGraph {
  readonly drawing: Drawing;
  readonly expanded: ReadonlyMap<number, number>;
  readonly ends: Int32Array;
}

function useLayout(steps: PlanSteps, expanded: ReadonlyMap<number, number>): DrawnGraph | undefined {
  const [drawn, setDrawn] = useState<DrawnGraph>();
  // The details of a running run are fetched again and again; its graph stays.
  const shape = useMemo(() => planShape(steps, expanded), [steps, expanded]);
  const digest = useMemo(() => shapeDigest(shape), [shape]);
  useEffect(() => {
    let isCurrent = true;
    void requestLayout(digest, shape).then((drawing) => {
      if (isCurrent) setDrawn({ drawing, expanded, ends: shape.edges });
    });
    return () => {
      isCurrent = false;
    };
  }, [digest]);
  return drawn;
}

function findSelection(steps: PlanSteps, query: URLSearchParams): Selection | undefined {
  const step = steps.findIndex(({ step: name }) => name === query.get('step'));
  if (step === -1) return undefined;
  const cell = query.get('cell');
  return cell === null ? { step } : { step, cell: Number(cell) };
}

function graphLabel(steps: PlanSteps, selected: number | undefined): string {
  const state = selected === undefined ? 'nothing selected' : `selected: ${steps[selected]!.step}`;
  return `Graph of ${steps.length === 1 ? '1 step' : `${steps.length} steps`}, ${state}. Arrow keys select along the edges, Enter opens, E shows the cells. The tree of steps has the same contents.`;
}
