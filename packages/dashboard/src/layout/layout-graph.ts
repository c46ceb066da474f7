import { placeColumns } from './place-columns.ts';
import { type Slot, sortColumn, stack } from './slot.ts';

/** A graph to be drawn. Lists of numbers are typed arrays, since they are sent between threads. Sizes are in pixels. */
export interface GraphShape {
  /** The column of each node. */
  readonly levels: Int32Array;
  /** The two ends of each edge; the first has a lower level. */
  readonly edges: Int32Array;
  readonly widths: Float32Array;
  readonly heights: Float32Array;
}

/** A graph drawn in columns from left to right. */
export interface GraphLayout {
  readonly width: number;
  readonly height: number;
  /** Left, top, right and bottom of each node. */
  readonly boxes: Float32Array;
  /** x and y of the points that the edges pass, one edge after the other. */
  readonly points: Float32Array;
  /** For each edge the index of its first point, and at the end the number of points. */
  readonly firstPoints: Uint32Array;
}

const COLUMN_GAP = 40;
const ROW_GAP = 14;
const PASSAGE = 6;
/** A column with more nodes is folded into several, so that the drawing is not a thin line. */
const MAX_ROWS = 60;
const MAX_PASSAGES = 50_000;
/** Width to height. */
const ASPECT = 1.8;

/** Places the nodes of an acyclic graph by their levels. Deterministic. */
export function layoutGraph(shape: GraphShape): GraphLayout {
  const sizes = new Map<number, number>();
  for (const level of shape.levels) sizes.set(level, (sizes.get(level) ?? 0) + 1);
  const isFolded = Math.max(0, ...sizes.values()) > MAX_ROWS || countPassages(shape) > MAX_PASSAGES;
  const slots: Slot[] = Array.from(shape.levels, (level, index) => ({
    level,
    height: shape.heights[index]!,
    before: [],
    after: [],
    y: 0,
  }));
  const chains: number[][] = [];
  for (let edge = 0; edge < shape.edges.length; edge += 2)
    chains.push(addChain(slots, { from: shape.edges[edge]!, to: shape.edges[edge + 1]!, isDirect: isFolded }));
  const columns: number[][] = [];
  slots.forEach(({ level }, index) => {
    columns[level] ??= [];
    columns[level].push(index);
  });
  const used = columns.filter((column) => column !== undefined);
  if (isFolded) {
    for (const column of used) {
      stack(column, slots);
      sortColumn(column, slots, 'before');
      stack(column, slots);
    }
    const folded = fold(used, { shape, slots });
    return draw({ shape, slots, chains, columns: folded });
  }
  placeColumns(used, slots);
  return draw({ shape, slots, chains, columns: used });
}

function countPassages({ levels, edges }: GraphShape): number {
  let passages = 0;
  for (let edge = 0; edge < edges.length; edge += 2)
    passages += Math.max(0, levels[edges[edge + 1]!]! - levels[edges[edge]!]! - 1);
  return passages;
}

/** The slots of an edge with both ends. Adds a slot for each column in between, unless the edge is drawn directly. */
function addChain(slots: Slot[], { from, to, isDirect }: { from: number; to: number; isDirect: boolean }): number[] {
  const chain = [from];
  for (let level = slots[from]!.level + 1; !isDirect && level < slots[to]!.level; level++) {
    chain.push(slots.length);
    slots.push({ level, height: PASSAGE, before: [], after: [], y: 0 });
  }
  chain.push(to);
  for (let i = 1; i < chain.length; i++) {
    slots[chain[i - 1]!]!.after.push(chain[i]!);
    slots[chain[i]!]!.before.push(chain[i - 1]!);
  }
  return chain;
}

/** Divides long columns so that the whole has about the proportions of a screen. */
function fold(
  columns: readonly number[][],
  { shape, slots }: { shape: GraphShape; slots: readonly Slot[] },
): number[][] {
  const mean = (values: Float32Array) => values.reduce((sum, value) => sum + value, 0) / Math.max(1, values.length);
  const cell = (mean(shape.widths) + COLUMN_GAP) * (mean(shape.heights) + ROW_GAP);
  const rowHeight = mean(shape.heights) + ROW_GAP;
  const rows = Math.max(MAX_ROWS / 2, Math.ceil(Math.sqrt((shape.levels.length * cell) / ASPECT) / rowHeight));
  return columns.flatMap((column) => {
    const parts = Math.ceil(column.length / rows);
    const size = Math.ceil(column.length / parts);
    return Array.from({ length: parts }, (_, part) => {
      const piece = column.slice(part * size, (part + 1) * size);
      stack(piece, slots);
      return piece;
    });
  });
}

interface Placed {
  readonly shape: GraphShape;
  readonly slots: readonly Slot[];
  readonly chains: readonly number[][];
  readonly columns: readonly number[][];
}

function draw({ shape, slots, chains, columns }: Placed): GraphLayout {
  const nodes = shape.levels.length;
  const [lefts, rights] = [new Float32Array(slots.length), new Float32Array(slots.length)];
  let [x, top, bottom] = [0, Infinity, -Infinity];
  for (const column of columns) {
    const width = column.reduce((most, slot) => (slot < nodes ? Math.max(most, shape.widths[slot]!) : most), 0);
    for (const slot of column) {
      lefts[slot] = x;
      rights[slot] = slot < nodes ? x + shape.widths[slot]! : x + width;
      top = Math.min(top, slots[slot]!.y - slots[slot]!.height / 2);
      bottom = Math.max(bottom, slots[slot]!.y + slots[slot]!.height / 2);
    }
    x += width + COLUMN_GAP;
  }
  const boxes = new Float32Array(nodes * 4);
  for (let node = 0; node < nodes; node++) {
    const { y, height } = slots[node]!;
    boxes.set([lefts[node]!, y - height / 2 - top, rights[node]!, y + height / 2 - top], node * 4);
  }
  const points: number[] = [];
  const firstPoints = new Uint32Array(chains.length + 1);
  chains.forEach((chain, edge) => {
    firstPoints[edge] = points.length / 2;
    chain.forEach((slot, place) => {
      const y = slots[slot]!.y - top;
      if (place > 0) points.push(lefts[slot]!, y);
      if (place < chain.length - 1) points.push(rights[slot]!, y);
    });
  });
  firstPoints[chains.length] = points.length / 2;
  const size = nodes === 0 ? { width: 0, height: 0 } : { width: x - COLUMN_GAP, height: bottom - top };
  return { ...size, boxes, points: Float32Array.from(points), firstPoints };
}
