import { isFannedOutStep, own, toleratedFailures, UNBOUND_ITEM } from '@sluice/core';
import { CODE, isFailed } from '../model/state-code.ts';
import { CELL } from '../state/cell-table.ts';
import { allCells, cellsRead } from '../state/cells-read.ts';
import { countedCells, gateOf } from '../state/gates.ts';
import type { MatchEdge } from '../state/match-table.ts';
import { STEP } from '../state/plan-index.ts';
import { CAUSE_KIND, type RunState } from '../state/run-state.ts';
import type { GateCause } from '../state/set-cause.ts';
import { areSkipped, isSatisfied, type SourceEnd } from './is-satisfied.ts';

/** How all cells of an ended step have ended, as a reader of the whole step sees them. */
export function stepEnd(run: RunState, step: number): SourceEnd {
  return {
    seen: run.seen[step]!,
    isSingle: !isFannedOutStep(run.plan.steps[step]!.step),
    isTolerant: tolerates(run, step, { failed: run.failures[step]!, cells: countedCells(run, step) }),
    hasRun: run.notRun[step]! <= 0,
  };
}

/** Whether a step tolerates these failures among its cells, or among those in a directory. */
function tolerates(run: RunState, step: number, { failed, cells }: { failed: number; cells: number }): boolean {
  return failed <= toleratedFailures(run.plan.steps[step]!.step.continueOnError, cells);
}

/**
 * Why the cell of a released gate may not start, by its edges to cells and its inputs with several sources; undefined if
 * they allow it. Edges to whole steps have been judged when these ended.
 */
export function judgeGate(run: RunState, step: number, cell: number): GateCause | undefined {
  if ((run.index.flags[step]! & STEP.judges) === 0) return undefined;
  const { inputs } = run.plan.steps[step]!.step;
  for (const edge of run.matches.into.get(step) ?? []) {
    const rules = own(inputs, edge.dependency.input ?? '');
    if (rules?.or !== undefined || rules?.optional === true) continue;
    const cause = judgeSource(run, { edge, on: edge.source }, cell);
    if (cause !== undefined) return cause;
  }
  for (const name of Object.keys(inputs)) {
    const { or, optional } = own(inputs, name)!;
    if (or === undefined || optional === true) continue;
    const cause = judgeSources(run, { step, cell, input: name });
    if (cause !== undefined) return cause;
  }
  return undefined;
}

/** An input without a cell to read, as of a sample without a control: the cell cannot start. Judged after `when`. */
export function findNoItem(run: RunState, step: number, cell: number): GateCause | undefined {
  if ((run.index.flags[step]! & STEP.judges) === 0) return undefined;
  for (const edge of run.matches.into.get(step) ?? []) {
    const { dependency, source } = edge;
    const rules = own(run.plan.steps[step]!.step.inputs, dependency.input ?? '');
    if (rules?.or !== undefined || rules?.optional === true || dependency.condition === 'completed') continue;
    const isNone = edge.isEarly ? cellsRead(run, edge, cell).length === 0 : run.matches.ends(edge, cell).seen === 0;
    if (isNone) return { kind: CAUSE_KIND.noItem, root: source };
  }
  return undefined;
}

/** Whether `where` names an item that its list does not have: the shell finds out why, and the cell fails. */
export function namesUnknownItem(run: RunState, step: number, cell: number): boolean {
  if ((run.index.flags[step]! & STEP.judges) === 0) return false;
  return (run.matches.into.get(step) ?? []).some(({ bound }) => bound?.get(cell) === UNBOUND_ITEM.unknown);
}

interface Source {
  readonly on: number;
  /** Absent: the whole step is read. */
  readonly edge?: MatchEdge | undefined;
}

function endOf(run: RunState, { on, edge }: Source, cell: number): SourceEnd {
  if (edge === undefined) return stepEnd(run, on);
  if (edge.isEarly) return earlyEnd(run, on, { cells: cellsRead(run, edge, cell), isSingle: edge.match.isSingle });
  const ends = run.matches.ends(edge, cell);
  return {
    seen: ends.seen,
    isSingle: edge.match.isSingle,
    isTolerant: tolerates(run, on, ends),
    hasRun: run.notRun[on]! <= 0,
  };
}

/** How the cells of a step have ended that have not run; those that have run count as successes. */
export function earlyStepEnd(run: RunState, step: number): SourceEnd {
  return earlyEnd(run, step, {
    cells: allCells(run, step),
    isSingle: !isFannedOutStep(run.plan.steps[step]!.step),
  });
}

/** A cell of a service that has been ready counts as a success, whatever it comes to later. */
function earlyEnd(
  run: RunState,
  step: number,
  { cells, isSingle }: { cells: readonly number[]; isSingle: boolean },
): SourceEnd {
  let [seen, ran, failed] = [0, 0, 0];
  for (const cell of cells) {
    const id = run.cellBase[step]! + cell;
    const hasRun = (run.cells.flags[id]! & CELL.ran) !== 0;
    const state = hasRun ? CODE.succeeded : run.cells.state[id]!;
    seen |= 1 << state;
    if (hasRun) ran++;
    else if (isFailed(state)) failed++;
  }
  const isTolerant = tolerates(run, step, { failed, cells: cells.length });
  return { seen, isSingle, isTolerant, hasRun: ran === cells.length };
}

function judgeSource(run: RunState, source: Source, cell: number): GateCause | undefined {
  const condition = source.edge?.dependency.condition ?? 'succeeded';
  const end = endOf(run, source, cell);
  if (source.edge !== undefined && end.seen === 0) return undefined;
  return isSatisfied(condition, end) ? undefined : causeOf(run, source, cell);
}

/** The first source whose cells were not all skipped must have succeeded. */
function judgeSources(
  run: RunState,
  { step, cell, input }: { step: number; cell: number; input: string },
): GateCause | undefined {
  const planned = run.plan.steps[step]!;
  const edges = run.matches.into.get(step) ?? [];
  const { from, or = [] } = own(planned.step.inputs, input)!;
  let skipped: GateCause | undefined;
  for (const { step: name } of 'step' in from ? [from, ...or] : or) {
    const dependency = planned.dependencies.find((one) => one.input === input && nameOf(run, one.on) === name)!;
    const source = { on: dependency.on, edge: edges.find((edge) => edge.dependency === dependency) };
    const { seen } = endOf(run, source, cell);
    if (seen === 0) continue;
    if (!areSkipped(seen)) return judgeSource(run, source, cell);
    skipped ??= causeOf(run, source, cell);
  }
  return skipped ?? { kind: CAUSE_KIND.noItem, root: planned.dependencies.find((one) => one.input === input)!.on };
}

function nameOf(run: RunState, step: number): string {
  return run.plan.steps[step]!.step.name;
}

function causeOf(run: RunState, { on, edge }: Source, cell: number): GateCause {
  const cells = edge === undefined ? allCells(run, on) : cellsRead(run, edge, cell);
  return findRoot(run, { step: on, cells, edge: 0 });
}

/**
 * The root of an end that did not satisfy its readers: a cell that failed, otherwise one that was skipped; and for a skipped one, the
 * root of its own end.
 */
export function findRoot(
  run: RunState,
  { step, cells, edge }: { step: number; cells: readonly number[]; edge: number },
): GateCause {
  const stateOf = (cell: number): number => run.cells.state[run.cellBase[step]! + cell]!;
  const isFailure = (cell: number): boolean => stateOf(cell) >= CODE.failed && stateOf(cell) <= CODE.canceled;
  const culprit = cells.find(isFailure) ?? cells.find((cell) => stateOf(cell) === CODE.skipped) ?? -1;
  const gate = culprit < 0 ? -1 : gateOf(run, step, culprit);
  const hasRoot = culprit >= 0 && stateOf(culprit) === CODE.skipped && run.causeStep[gate]! >= 0;
  if (hasRoot && run.causeKind[gate] !== CAUSE_KIND.noItem)
    return {
      kind: CAUSE_KIND.dependency,
      root: run.causeStep[gate]!,
      cell: run.causeCell[gate]!,
      edge: run.causeEdge[gate]!,
    };
  const isOfCell = culprit >= 0 && isFannedOutStep(run.plan.steps[step]!.step);
  return { kind: CAUSE_KIND.dependency, root: step, cell: isOfCell ? culprit : -1, edge };
}
