import type { RunDetails } from '@sluice/host';
import { summarizeCounts } from '@sluice/run';
import { useMemo } from 'preact/hooks';
import { GraphCanvas } from '../draw/graph-canvas.tsx';
import type { PlanSteps } from '../layout/plan-shape.ts';
import { type DrawnGraph, useLayout } from '../layout/use-layout.ts';
import type { LiveRun } from '../live/open-run.ts';
import { replaceQuery } from '../live/route.ts';
import type { CellSearch } from '../live/use-cell-search.ts';
import { findGaps } from '../model/find-gaps.ts';
import { type FoldedSteps, foldModel } from '../model/fold-steps.ts';
import { countsOf, type RunModel } from '../model/run-model.ts';
import { STATUSES } from '../model/statuses.ts';
import { ErrorBoundary } from '../parts/error-boundary.tsx';
import { Timeline } from '../parts/timeline.tsx';
import type { Selection } from '../parts/timeline-row.tsx';
import { linkToSelection, soleCell } from './link-to-selection.ts';
import { SelectedGroup } from './selected-group.tsx';
import { SelectedStep } from './selected-step.tsx';
import { useRows } from './use-rows.ts';
import { type ShownRun, useShownRun } from './use-shown-run.ts';

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
export function RunWorkspace(props: WorkspaceProps) {
  const { run, details, query, times } = props;
  const shownRun = useShownRun(props);
  const { folding, steps, model, history, expanded, shown, critical, toggle, foldGroupOf } = shownRun;
  const drawn = useLayout(folding, expanded);
  const rows = useRows({ steps, model, shown, expanded });
  const selected = findSelection(details.plan.steps, folding.view, query);
  const gaps = useMemo(() => findGaps(details.resumes, times.startedAt), [details.resumes, times.startedAt]);
  const { select, open } = createNavigation(run.runId, shownRun);
  const isTimeline = query.get('view') === 'timeline';
  return (
    <>
      <div class={`workspace ${selected === undefined ? '' : 'has-side'}`}>
        <div class={`panes ${isTimeline ? 'shows-timeline' : 'shows-graph'}`}>
          <ErrorBoundary key="graph" what="The graph">
            <GraphPane {...{ ...shownRun, planModel: props.model, drawn, select, open }} selected={selected?.step} />
          </ErrorBoundary>
          <ErrorBoundary key="timeline" what="The timeline">
            <Timeline
              {...{ rows, steps, model, history, selected, expanded, critical, gaps, ...times }}
              nameOf={(step, cell) => run.names.nameOf(folding.view.members[step]![0]!, cell)}
              onSelect={select}
              onOpen={open}
              onToggle={toggle}
              onFold={foldGroupOf}
            />
          </ErrorBoundary>
        </div>
        {selected !== undefined && (
          <ErrorBoundary of={`${selected.step}/${selected.cell}`} what="The selected step">
            <SidePanel {...{ ...props, shownRun, selected }} onClose={() => select(undefined)} />
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

interface SideProps extends WorkspaceProps {
  readonly shownRun: ShownRun;
  readonly selected: Selection;
  readonly onClose: () => void;
}

function SidePanel({ run, details, model, times, expanded, toggle, shownRun, selected, onClose }: SideProps) {
  const { folding, foldGroupOf } = shownRun;
  const members = folding.view.members[selected.step]!;
  const [step] = members;
  if (members.length > 1)
    return (
      <SelectedGroup {...{ shownRun, runId: run.runId, group: selected.step, plan: details.plan.steps, onClose }} />
    );
  const { group } = details.plan.steps[step!]!;
  return (
    <SelectedStep
      {...{ run, details, model, selection: { ...selected, step: step! }, times, onClose }}
      isExpanded={expanded.has(step!)}
      onToggle={() => toggle(step!)}
      onFold={group !== undefined && folding.groups.includes(group) ? () => foldGroupOf(selected.step) : undefined}
    />
  );
}

interface GraphPaneProps extends ShownRun, ReturnType<typeof createNavigation> {
  /** Of the steps of the plan. */
  readonly planModel: RunModel;
  /** Undefined until the layout is known. */
  readonly drawn: DrawnGraph<FoldedSteps> | undefined;
  readonly selected: number | undefined;
}

function GraphPane(props: GraphPaneProps) {
  const { folding, steps, model, critical, shown, planModel, drawn, selected, select, open, toggle } = props;
  const { groups, folded, fold } = folding;
  if (drawn === undefined) return <div class="graph soft">Drawing…</div>;
  // Until the new drawing is there, the one before is shown, which has other steps.
  const isCurrent = drawn.key === folding.key;
  const picture = isCurrent
    ? { steps, model, critical, shown, selected }
    : {
        ...{ steps: drawn.view.steps, model: foldModel(planModel, drawn.view), critical: new Set<number>() },
        ...{ shown: new Uint8Array(drawn.view.steps.length).fill(1), selected: undefined },
      };
  return (
    <GraphCanvas
      {...{ ...picture, expanded: drawn.expanded, drawing: drawn.drawing, ends: drawn.ends }}
      onSelect={(step) => select(step === undefined ? undefined : { step })}
      onOpen={(step) => open({ step })}
      onToggle={toggle}
      onFold={props.foldGroupOf}
      label={graphLabel(steps, selected)}
    >
      {groups.length > 0 && (
        <button type="button" onClick={() => fold(folded.size === 0 ? groups : [])}>
          {folded.size === 0 ? 'Fold groups' : 'Unfold groups'}
        </button>
      )}
    </GraphCanvas>
  );
}

/** Selecting changes the URL of this screen, opening leads to another, or unfolds a group. */
function createNavigation(runId: string, { folding: { view }, steps, model, toggle }: ShownRun) {
  return {
    select: (selection: Selection | undefined) =>
      replaceQuery({
        step: selection === undefined ? undefined : steps[selection.step]!.step,
        cell: selection?.cell === undefined ? undefined : String(selection.cell),
      }),
    open: ({ step, cell = soleCell(model, step) }: Selection) => {
      if (view.members[step]!.length > 1) toggle(step);
      else location.hash = linkToSelection(runId, steps, { step, cell });
    },
  };
}

/** The selected step or group. A step of a folded group stands for the group. */
function findSelection(plan: PlanSteps, view: FoldedSteps, query: URLSearchParams): Selection | undefined {
  const selected = query.get('step');
  if (selected === null) return undefined;
  const isSelected = ({ step: name }: PlanSteps[number]) => name === selected;
  const step = view.steps.findIndex(isSelected);
  const hidden = step === -1 ? plan.findIndex(isSelected) : -1;
  if (step === -1) return hidden === -1 ? undefined : { step: view.shownAs[hidden]! };
  const cell = query.get('cell');
  return cell === null ? { step } : { step, cell: Number(cell) };
}

function graphLabel(steps: PlanSteps, selected: number | undefined): string {
  const state = selected === undefined ? 'nothing selected' : `selected: ${steps[selected]!.step}`;
  return `Graph of ${steps.length === 1 ? '1 step' : `${steps.length} steps`}, ${state}. Arrow keys select along the edges, Enter opens, E shows the cells, F folds a group. The tree of steps has the same contents.`;
}
