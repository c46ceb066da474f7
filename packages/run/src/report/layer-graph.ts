/** A graph drawn in columns from left to right. */
export interface LayeredGraph {
  readonly width: number;
  readonly height: number;
  /** Upper left corner of each node. */
  readonly nodes: readonly { readonly x: number; readonly y: number }[];
  /** Points that each edge passes, from the right side of one node to the left side of the other. */
  readonly edges: readonly (readonly { readonly x: number; readonly y: number }[])[];
}

/** A graph to be drawn. `levels` has the column of each node; `from` has a lower level than `to`. Sizes are in pixels. */
export interface GraphShape {
  readonly levels: readonly number[];
  readonly edges: readonly { readonly from: number; readonly to: number }[];
  readonly nodeWidth: number;
  readonly nodeHeight: number;
}

/** One node, or the place where an edge crosses a column between its ends. */
interface Slot {
  readonly level: number;
  readonly size: number;
  readonly before: number[];
  readonly after: number[];
  y: number;
}

const COLUMN_GAP = 44;
const ROW_GAP = 14;
const PASSAGE = 6;
const SWEEPS = 6;

/**
 * Places the nodes of an acyclic graph by their levels with few crossings: columns are repeatedly sorted by the mean
 * position of their neighbors, forward and backward. Deterministic; for up to some hundreds of nodes.
 */
export function layerGraph({ levels, edges, nodeWidth, nodeHeight }: GraphShape): LayeredGraph {
  const slots: Slot[] = levels.map((level) => ({ level, size: nodeHeight, before: [], after: [], y: 0 }));
  const chains = edges.map(({ from, to }) => addChain(slots, from, to));
  const columns: number[][] = [];
  slots.forEach(({ level }, index) => {
    columns[level] ??= [];
    columns[level].push(index);
  });
  const used = columns.filter((column) => column !== undefined);
  for (let sweep = 0; sweep < SWEEPS; sweep++) {
    for (const column of sweep % 2 === 0 ? used : used.toReversed()) {
      sortColumn(column, slots, sweep % 2 === 0 ? 'before' : 'after');
      placeColumn(column, slots);
    }
  }
  const height = Math.max(0, ...used.map((column) => columnHeight(column, slots)));
  // Until here, every column is centered on 0.
  for (const slot of slots) slot.y += height / 2;
  const pitch = nodeWidth + COLUMN_GAP;
  const place = (slot: Slot) => ({ x: slot.level * pitch, y: slot.y });
  return {
    width: Math.max(0, (Math.max(-1, ...levels) + 1) * pitch - COLUMN_GAP),
    height,
    nodes: levels.map((_, index) => place(slots[index]!)),
    edges: chains.map((chain) =>
      chain.flatMap((index, at) => {
        const { x, y } = place(slots[index]!);
        const middle = y + slots[index]!.size / 2;
        const left = { x, y: middle };
        const right = { x: x + nodeWidth, y: middle };
        return at === 0 ? [right] : at === chain.length - 1 ? [left] : [left, right];
      }),
    ),
  };
}

/** The slots of an edge, including both ends. Adds a slot for each column in between. */
function addChain(slots: Slot[], from: number, to: number): number[] {
  const chain = [from];
  for (let level = slots[from]!.level + 1; level < slots[to]!.level; level++) {
    chain.push(slots.length);
    slots.push({ level, size: PASSAGE, before: [], after: [], y: 0 });
  }
  chain.push(to);
  for (let i = 1; i < chain.length; i++) {
    slots[chain[i - 1]!]!.after.push(chain[i]!);
    slots[chain[i]!]!.before.push(chain[i - 1]!);
  }
  return chain;
}

function sortColumn(column: number[], slots: readonly Slot[], side: 'before' | 'after'): void {
  const weight = new Map(
    column.map((index) => {
      const near = slots[index]![side];
      const middle = (slot: number) => slots[slot]!.y + slots[slot]!.size / 2;
      return [index, near.length === 0 ? middle(index) : near.reduce((sum, one) => sum + middle(one), 0) / near.length];
    }),
  );
  column.sort((a, b) => weight.get(a)! - weight.get(b)! || a - b);
}

function placeColumn(column: readonly number[], slots: readonly Slot[]): void {
  let y = -columnHeight(column, slots) / 2;
  for (const index of column) {
    slots[index]!.y = y;
    y += slots[index]!.size + ROW_GAP;
  }
}

function columnHeight(column: readonly number[], slots: readonly Slot[]): number {
  return column.reduce((sum, index) => sum + slots[index]!.size + ROW_GAP, -ROW_GAP);
}
