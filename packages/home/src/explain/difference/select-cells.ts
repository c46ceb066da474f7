import { describeUnknown, ok, type Result } from '@sluice/core';
import { type CellIndex, cellsInOrder, type ReplayedRun, type RunError, splitCellName, stepIndex } from '@sluice/run';
import { findCell } from '../../runs/find-cell.ts';
import { type MatchedCells, matchCells } from './match-cells.ts';

/** The cells of a step in two runs, by index. */
export interface SelectedCells extends MatchedCells {
  readonly step: number;
  readonly otherStep: number;
  readonly name: string;
  readonly otherName: string;
  /** The name of the cell; absent: all cells. */
  readonly cell?: string;
  /** Why there is nothing to compare with. */
  readonly absence?: string;
}

interface Selection {
  readonly run: ReplayedRun;
  readonly step: string;
  readonly other: ReplayedRun;
  readonly otherStep?: string;
}

/** The named cells of a run, and the same cells of another one. The error says that the first run does not have them. */
export function selectCells(selection: Selection): Result<SelectedCells, RunError> {
  const { run, other } = selection;
  const at = findCell(run, selection.step);
  if (!at.ok) return at;
  const { step, cell } = at.value;
  const { name } = run.facts.plan.steps[step]!.step;
  const wanted = splitCellName(selection.otherStep ?? name);
  const key = cell === undefined ? undefined : (run.facts.cells[step]?.[cell]?.key ?? '');
  const head = { step, name, otherName: wanted.step, ...(key !== undefined && { cell: key }) };
  const own = cell === undefined ? cellsInOrder(run.facts, step) : [cell];
  const otherStep = stepIndex(other.facts.plan, wanted.step);
  if (otherStep === undefined) {
    const names = other.facts.plan.steps.map((one) => one.step.name);
    const absence = `run ${other.runId} has no step ${describeUnknown(wanted.step, names)}`;
    return ok({ ...head, otherStep: -1, pairs: [], added: own, removed: [], absence });
  }
  if (wanted.cell !== undefined) {
    const named = findCell(other, selection.otherStep!);
    if (!named.ok) return named;
    return ok({ ...head, otherStep, pairs: [{ old: named.value.cell!, now: own[0]! }], added: [], removed: [] });
  }
  const matched = matchSteps({ step, run }, { step: otherStep, run: other });
  if (cell === undefined) return ok({ ...head, otherStep, ...matched });
  const pair = matched.pairs.find(({ now }) => now === cell);
  if (pair !== undefined) return ok({ ...head, otherStep, pairs: [pair], added: [], removed: [] });
  const absence = describeAbsence({ step, cell, run }, { step: otherStep, run: other });
  return ok({ ...head, otherStep, pairs: [], added: [cell], removed: [], absence });
}

interface StepOf {
  readonly run: ReplayedRun;
  readonly step: number;
}

function matchSteps(here: StepOf, there: StepOf): MatchedCells {
  const [before, after] = [cellsInOrder(there.run.facts, there.step), cellsInOrder(here.run.facts, here.step)];
  const cellsOf = ({ run, step }: StepOf, indexes: readonly number[]) =>
    indexes.map((index) => run.facts.cells[step]![index]!);
  const { pairs, added, removed } = matchCells(cellsOf(there, before), cellsOf(here, after));
  return {
    pairs: pairs.map(({ old, now }) => ({ old: before[old]!, now: after[now]! })),
    added: added.map((index) => after[index]!),
    removed: removed.map((index) => before[index]!),
  };
}

/** The other run has no such cell, and no single one with the same values. */
function describeAbsence({ run, step, cell }: StepOf & CellIndex, there: StepOf): string {
  const { facts } = there.run;
  const { name } = facts.plan.steps[there.step]!.step;
  const cells = facts.cells[there.step];
  if (cells === undefined) return `run ${there.run.runId} did not come to the list of the cells of ${name}`;
  const { key } = run.facts.cells[step]![cell]!;
  const names = cells.flatMap((one) => (one.key === '' ? [] : [one.key]));
  const absence = `step ${name} of run ${there.run.runId} has no cell ${key === '' ? 'without a name' : describeUnknown(key, names)}`;
  const [axes, others] = [axesOf({ run, step }), axesOf(there)];
  return axes === others ? absence : `${absence}; its axes were ${others || 'none'}, and are ${axes || 'none'}`;
}

function axesOf({ run, step }: StepOf): string {
  const [first] = run.facts.cells[step] ?? [];
  return Object.keys(first?.each ?? first?.matrix ?? {}).join(', ');
}
