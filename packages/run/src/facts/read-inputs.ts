import {
  type Cell,
  groupsOf,
  type Input,
  isMatched,
  matchOf,
  own,
  placeInVolume,
  plannedCell,
  resolveInputs,
} from '@sluice/core';
import { TERMINAL_CELL_STATES } from '../scheduler/model/cell-state.ts';
import { hasSucceeded } from './has-succeeded.ts';
import { cellsInOrder, cellsMeant } from './listed-cells.ts';
import type { ContextSource } from './step-context.ts';
import { stepIndex } from './step-context.ts';
import { findDependency } from './temporary-outputs.ts';

/** The cells of a step that an input means. */
export interface ReadSource {
  readonly step: number;
  readonly output: string;
  /** A path in the output of a single cell. */
  readonly path?: string;
  /** In their order; whether they have succeeded is not said. */
  readonly cells: readonly number[];
  /** One cell is mounted directly; otherwise a directory of cells. */
  readonly isSingle: boolean;
  /** All cells of the step are meant. */
  readonly isWhole: boolean;
  /** The axes on which the cells agree, if they are all that do. */
  readonly shared?: readonly string[];
}

/** An input as one cell reads it: with its path evaluated, one source chosen, and the cells of the source matched. */
export interface ReadInput {
  readonly name: string;
  /** As the pipeline declares it, with the path evaluated and the chosen source in `from`. */
  readonly input: Input;
  /** Absent for a volume. */
  readonly source?: ReadSource;
}

const PLAIN: Cell = { key: '', matrix: {} };

/** The inputs of a cell whose dependencies have ended. Throws if a path cannot be evaluated, which the plan has checked. */
export function readInputs(run: ContextSource, step: number, cell: number): readonly ReadInput[] {
  const resolved = resolveInputs(run.plan, step, run.facts.cells[step]?.[cell] ?? PLAIN);
  if (!resolved.ok) throw new Error(resolved.error);
  return resolved.value.map(({ name, ...input }) => readInput(run, { step, cell }, { name, input }));
}

/** The cells that a step with several sources reads: of the first one whose cells were not all skipped. */
function readInput(
  run: ContextSource,
  at: { readonly step: number; readonly cell: number },
  { name, input }: { readonly name: string; readonly input: Input },
): ReadInput {
  const { from, or = [] } = input;
  if ('volume' in from) return { name, input: { ...input, from: readVolume(run, at, from) } };
  const sources = [from, ...or].map((one) => ({ one, source: findSource(run, at, { name, from: one }) }));
  const chosen =
    sources.find(({ source }) => source.cells.some((cell) => run.scheduler.state(source.step, cell) !== 'skipped')) ??
    sources[0]!;
  return { name, input: { ...input, from: chosen.one }, source: chosen.source };
}

function readVolume(
  { plan, facts }: ContextSource,
  { step, cell }: { readonly step: number; readonly cell: number },
  from: Extract<Input['from'], { readonly volume: string }>,
): Input['from'] {
  const place = placeInVolume(plan, own(plan.pipeline.volumes, from.volume), facts.cells[step]?.[cell] ?? PLAIN);
  return place === '' ? from : { ...from, path: from.path === '' ? place : `${place}/${from.path}` };
}

/**
 * The cells that a cell may mount, also before its dependencies have ended: of several sources, all until the first that
 * will not be skipped.
 */
export function readableSources(run: ContextSource, step: number, cell: number): readonly ReadSource[] {
  const inputs = Object.entries(run.plan.steps[step]!.step.inputs);
  return inputs.flatMap(([name, { from, or = [] }]) => {
    const found: ReadSource[] = [];
    for (const one of [from, ...or]) {
      if ('volume' in one) return [];
      const source = findSource(run, { step, cell }, { name, from: one });
      found.push(source);
      const isChosen = source.cells.some((of) => {
        const state = run.scheduler.state(source.step, of);
        return TERMINAL_CELL_STATES.has(state) && state !== 'skipped';
      });
      if (isChosen) break;
    }
    return found;
  });
}

function findSource(
  run: ContextSource,
  { step, cell }: { readonly step: number; readonly cell: number },
  { name, from }: { readonly name: string; readonly from: Extract<Input['from'], { readonly step: string }> },
): ReadSource {
  const { plan } = run;
  const on = stepIndex(plan, from.step)!;
  const reader = plan.steps[step]!;
  const place = { step: on, output: from.output, ...(from.path !== undefined && { path: from.path }) };
  if (!isMatched(reader, plan.steps[on]!)) {
    const isSingle = plan.steps[on]!.cells?.[0]?.key === '';
    return { cells: cellsInOrder(run.facts, on), isSingle, isWhole: true, ...place };
  }
  const dependency = findDependency(reader, on, name);
  const match = matchOf(plan, reader, dependency);
  const cells = cellsMeant(run.facts, { step, cell }, dependency);
  const rules = own(reader.step.inputs, name);
  const isWhole = !match.isSingle && match.shared.length === 0 && rules?.where === undefined;
  const planned = plannedCell(run.facts.batches[step], cell);
  const isGroup = !match.isList && groupsOf(match, planned).length === 1;
  return { cells, isSingle: match.isSingle, isWhole, ...(isGroup && { shared: match.shared }), ...place };
}

/** The cells of a source that have succeeded: the others have no outputs. */
export function succeededCells(run: ContextSource, { step, cells }: ReadSource): readonly number[] {
  return cells.filter((cell) => hasSucceeded(run, step, cell));
}
