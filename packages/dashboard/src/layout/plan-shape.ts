import type { RunDetails } from '@sluice/host';
import type { GraphShape } from './layout-graph.ts';

/** The part of a run's plan that decides its drawing. */
export type PlanSteps = RunDetails['plan']['steps'];

/** Height of a step's box without the grid of its cells. */
export const BOX_HEIGHT = 46;
/** Side of a cell in the grid, with the gap to the next. */
export const CELL_SIZE = 12;
/** The least distance of the grid from the sides of the box. */
export const GRID_MARGIN = 8;
const MIN_COLUMNS = 8;
const MIN_WIDTH = 108;
const MAX_WIDTH = 230;
/** Of the status and the number of cells. */
const MARKS_WIDTH = 44;
const MANY_WIDTH = 44;
const LETTER_WIDTH = 7.6;

/** The number of columns of the grid of a step's cells: about twice as wide as high. */
export function gridColumns(cells: number): number {
  return Math.max(MIN_COLUMNS, Math.ceil(Math.sqrt(cells * 2)));
}

/** The graph of a plan. `expanded` has the number of cells of each step that is drawn with a grid. */
export function planShape(steps: PlanSteps, expanded: ReadonlyMap<number, number>): GraphShape {
  const edges = steps.flatMap(({ dependencies }, to) =>
    dependencies.filter((from) => steps[from]!.level < steps[to]!.level).flatMap((from) => [from, to]),
  );
  const widths = Float32Array.from(steps, boxWidth);
  const heights = new Float32Array(steps.length).fill(BOX_HEIGHT);
  for (const [step, cells] of expanded) {
    const columns = gridColumns(cells);
    widths[step] = Math.max(widths[step]!, columns * CELL_SIZE + 2 * GRID_MARGIN);
    heights[step] = BOX_HEIGHT + Math.ceil(cells / columns) * CELL_SIZE + GRID_MARGIN;
  }
  return { levels: Int32Array.from(steps, ({ level }) => level), edges: Int32Array.from(edges), widths, heights };
}

/** Wide enough for the name in most fonts, so that graphs with short names are drawn larger. */
function boxWidth({ step: name, cells }: PlanSteps[number]): number {
  const many = cells === 1 ? 0 : MANY_WIDTH;
  return Math.min(MAX_WIDTH, Math.max(MIN_WIDTH, MARKS_WIDTH + many + name.length * LETTER_WIDTH));
}

/** Two FNV-1a hashes of everything that a layout depends on: graphs with one digest have the same drawing. */
export function shapeDigest({ levels, edges, widths, heights }: GraphShape): string {
  let [low, high] = [0x811c9dc5, 0x01234567];
  for (const list of [levels, edges, widths, heights]) {
    const words = new Uint32Array(list.buffer, list.byteOffset, list.length);
    for (const word of words) {
      low = Math.imul(low ^ word, 0x01000193);
      // A product depends only on the lower bits of its factors.
      high = Math.imul(high ^ word ^ (word >>> 15) ^ (low >>> 13), 0x5bd1e995);
    }
    low = Math.imul(low ^ words.length, 0x01000193);
  }
  return `${levels.length}-${low >>> 0}-${high >>> 0}`;
}
