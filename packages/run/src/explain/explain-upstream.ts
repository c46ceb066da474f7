import { isMatched, type PlannedDependency } from '@sluice/core';
import { cellsInOrder, cellsMeant } from '../facts/listed-cells.ts';
import type { ReplayedRun } from '../facts/replay-files.ts';
import { stepIndex } from '../facts/step-context.ts';
import { explainCell } from '../report/explain-cell.ts';
import { statusOfCell, statusOfCells } from '../report/status-of-cell.ts';
import { TERMINAL_CELL_STATES } from '../scheduler/model/cell-state.ts';
import type { CellExplanation, UpstreamExplanation } from '../schemas/explanation.ts';

/** A lookup per step can lead to as many cells as there are items. */
const MAX_ENTRIES = 100;

interface CellPlace {
  readonly step: number;
  readonly cell: number;
}

/**
 * Of a cell of a step with `each`: what it comes from, and the cell that keeps it from succeeding, unless that is the cell
 * itself. A cell that is read by itself is followed; several cells of a step are one entry.
 */
export function explainUpstream(
  run: ReplayedRun,
  step: number,
  cell: number,
): Pick<CellExplanation, 'upstream' | 'rootCause'> {
  if (run.facts.plan.steps[step]!.step.each === undefined) return {};
  const upstream = listUpstream(run, { step, cell });
  const root = findRoot(run, { step, cell });
  return { ...(upstream.length > 0 && { upstream }), ...(root && { rootCause: describeRoot(run, root) }) };
}

/** Before a cell comes what it reads. */
function listUpstream(run: ReplayedRun, start: CellPlace): UpstreamExplanation[] {
  const { plan, cells } = run.facts;
  const found: UpstreamExplanation[] = [];
  const seen = new Set<string>();
  const follow = (at: CellPlace): void => {
    for (const dependency of plan.steps[at.step]!.dependencies) {
      const meant = findMeant(run, at, dependency);
      const { on } = dependency;
      const [only] = meant;
      const isSingle = meant.length === 1;
      const id = isSingle ? `${on}/${only}` : `${on} of ${at.step}/${at.cell}`;
      if (meant.length === 0 || seen.has(id) || seen.size >= MAX_ENTRIES) continue;
      seen.add(id);
      const name = plan.steps[on]!.step.name;
      if (isSingle) {
        follow({ step: on, cell: only! });
        found.push({ step: name, cell: cells[on]?.[only!]?.key ?? '', ...statusOfCell(run, on, only!) });
      } else found.push({ step: name, cellCount: meant.length, ...statusOfCells(run, { step: on, cells: meant }) });
    }
  };
  follow(start);
  return found;
}

/** The cells that a dependency of a cell means. */
function findMeant(run: ReplayedRun, { step, cell }: CellPlace, dependency: PlannedDependency): readonly number[] {
  const { plan } = run.facts;
  const [reader, source] = [plan.steps[step]!, plan.steps[dependency.on]!];
  if (isMatched(reader, source)) return cellsMeant(run.facts, { step, cell }, dependency);
  return cellsInOrder(run.facts, dependency.on);
}

/** The cause of a skip, or the first cell that has not ended and waits for no other; undefined if it is the cell itself. */
function findRoot(run: ReplayedRun, start: CellPlace): CellPlace | undefined {
  const { scheduler, facts } = run;
  const skip = scheduler.skipCause(start.step, start.cell);
  if (skip?.kind === 'dependency') {
    const step = stepIndex(facts.plan, skip.step)!;
    const cell = skip.cell ?? (scheduler.cellCount(step) === 1 ? 0 : undefined);
    return cell === undefined ? undefined : { step, cell };
  }
  let root: CellPlace | undefined;
  for (let at: CellPlace | undefined = start; at !== undefined; at = findOpen(run, at)) if (at !== start) root = at;
  return root;
}

/** The first cell that has not ended of those that a waiting cell reads. */
function findOpen(run: ReplayedRun, at: CellPlace): CellPlace | undefined {
  const { scheduler, facts } = run;
  if (scheduler.state(at.step, at.cell) !== 'waiting') return undefined;
  for (const dependency of facts.plan.steps[at.step]!.dependencies) {
    const open = findMeant(run, at, dependency).find(
      (cell) => !TERMINAL_CELL_STATES.has(scheduler.state(dependency.on, cell)),
    );
    if (open !== undefined) return { step: dependency.on, cell: open };
  }
  return undefined;
}

function describeRoot(run: ReplayedRun, { step, cell }: CellPlace): NonNullable<CellExplanation['rootCause']> {
  const { plan, cells } = run.facts;
  const message = explainCell(run, step, cell);
  return {
    ...{ step: plan.steps[step]!.step.name, cell: cells[step]?.[cell]?.key ?? '', ...statusOfCell(run, step, cell) },
    ...(message !== undefined && { message }),
  };
}
