import { own } from '../model/own.ts';
import type { NamedVolume } from '../model/pipeline.ts';
import type { Cell, Plan, PlannedStep } from '../model/plan.ts';
import { type EdgeAxes, fixedAxes, matchAxes } from './implied-axes.ts';
import { namedAxes } from './listed-axes.ts';
import { isMatched } from './match-cells.ts';

/** The directory of a cell that has no item of an axis. No key begins with a dot. */
const NO_ITEM = '.none';

/** How the published outputs of a step are nested. */
interface Layout {
  /** The axes of the directories, from the outermost. */
  readonly order: readonly string[];
  /** The axes of the groups that other steps read and that are one directory each; they come first in `order`. */
  readonly group?: readonly string[];
}

const LAYOUTS = new WeakMap<Plan, Map<number, Layout>>();

/**
 * If another step, or the pipeline, reads all cells, they are nested by the axes of `each`; otherwise first by the axes of
 * the largest groups that other steps read, so that such a group is one mount. There is one kind of directory with a
 * manifest: a second kind inside it would change what the readers of the first one find.
 */
function layoutOf(plan: Plan, step: number): Layout {
  const known = LAYOUTS.get(plan) ?? new Map<number, Layout>();
  LAYOUTS.set(plan, known);
  let layout = known.get(step);
  if (layout === undefined) {
    layout = chooseLayout(plan, plan.steps[step]!);
    known.set(step, layout);
  }
  return layout;
}

function chooseLayout(plan: Plan, source: PlannedStep): Layout {
  const each = namedAxes(plan.pipeline, source.step.each ?? []);
  const directories = plan.steps.flatMap((reader) => findDirectories(plan, reader, source));
  const isWhole = Object.values(plan.pipeline.outputs).some(({ from }) => from.step === source.step.name);
  if (isWhole || directories.some(({ shared }) => shared.length === 0)) return { order: each };
  const [largest] = directories.sort((a, b) => a.shared.length - b.shared.length);
  if (largest === undefined) return { order: each };
  const { shared } = largest;
  const order = [...namedAxes(plan.pipeline, shared), ...differingAxes(plan, source.index, shared)];
  return { order, group: shared };
}

/** The directories of cells that a step reads of another one, by the axes on which their cells agree. */
function findDirectories(plan: Plan, reader: PlannedStep, source: PlannedStep): Pick<EdgeAxes, 'shared'>[] {
  return reader.dependencies.flatMap(({ on, data, input }): Pick<EdgeAxes, 'shared'>[] => {
    if (on !== source.index || !data) return [];
    if (!isMatched(reader, source)) return [{ shared: [] }];
    const rules = own(reader.step.inputs, input ?? '') ?? {};
    const { isSingle, ...match } = matchAxes(plan.pipeline, { reader: reader.step, source: source.step, rules });
    return isSingle ? [] : [match];
  });
}

/** The path of a cell's output below the directory of its step: the key, or for `each` a directory for each axis. */
export function cellPath(plan: Plan, step: number, cell: Cell | undefined): string {
  if (cell?.each === undefined) return cell?.key ?? '';
  return join(plan, layoutOf(plan, step).order, cell);
}

/**
 * The path of a cell in a directory of cells that agree on some axes: the keys of the others, in the order of `each`. It
 * does not depend on what else the pipeline reads.
 */
export function nameInDirectory(
  plan: Plan,
  step: number,
  { cell, shared }: { readonly cell: Cell; readonly shared: readonly string[] },
): string {
  if (cell.each === undefined) return cell.key;
  return join(plan, differingAxes(plan, step, shared), cell);
}

/** The directory that has exactly the cells that agree with this one on these axes; undefined if there is none. */
export function groupPath(
  plan: Plan,
  step: number,
  { cell, shared }: { readonly cell: Cell; readonly shared: readonly string[] },
): string | undefined {
  if (layoutOf(plan, step).group?.join() !== shared.join()) return undefined;
  return join(plan, namedAxes(plan.pipeline, shared), cell);
}

/** The directory in a volume that a cell mounts: one for each combination of items of `each`, otherwise all of it (`''`). */
export function placeInVolume(plan: Plan, volume: NamedVolume | undefined, cell: Cell): string {
  return join(plan, volume?.each ?? [], cell);
}

function differingAxes(plan: Plan, step: number, shared: readonly string[]): readonly string[] {
  const fixed = fixedAxes(plan.pipeline, shared);
  return namedAxes(plan.pipeline, plan.steps[step]!.step.each ?? []).filter((axis) => !fixed.has(axis));
}

function join(plan: Plan, axes: readonly string[], cell: Cell): string {
  return axes.map((axis) => keyOf(plan, axis, cell)).join('/');
}

/** The keys of a cell's items, by axis; undefined if the step has no axes. */
export function describeAxes(plan: Plan, cell: Cell): Readonly<Record<string, string>> | undefined {
  const { each } = cell;
  if (each === undefined) return undefined;
  return Object.fromEntries(Object.keys(each).map((axis) => [axis, keyOf(plan, axis, cell)]));
}

/** The key of a cell's item of an axis; undefined if it has none. */
export function axisKey(plan: Plan, cell: Cell, axis: string): string | undefined {
  return own(cell.each ?? {}, axis) === undefined ? undefined : keyOf(plan, axis, cell);
}

function keyOf(plan: Plan, axis: string, { each = {}, listed }: Cell): string {
  if (listed?.axis === axis) return listed.key;
  const item = own(each, axis);
  return item === undefined ? NO_ITEM : own(plan.axes ?? {}, axis)!.keys[item]!;
}
