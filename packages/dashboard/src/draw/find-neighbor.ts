import type { GraphLayout } from '../layout/layout-graph.ts';

/** A key that moves the selection. */
export type Direction = 'ArrowLeft' | 'ArrowRight' | 'ArrowUp' | 'ArrowDown';

/**
 * The node that an arrow key selects: to the sides the nearest one along an edge, up and down the nearest one in the same
 * column. Without one, the same node.
 */
export function findNeighbor(
  layout: GraphLayout,
  ends: Int32Array,
  { from, direction }: { from: number; direction: Direction },
): number {
  const middle = (node: number) => (layout.boxes[node * 4 + 1]! + layout.boxes[node * 4 + 3]!) / 2;
  const candidates: number[] = [];
  if (direction === 'ArrowLeft' || direction === 'ArrowRight') {
    const [own, other] = direction === 'ArrowLeft' ? [1, 0] : [0, 1];
    for (let edge = 0; edge < ends.length; edge += 2)
      if (ends[edge + own] === from) candidates.push(ends[edge + other]!);
  } else {
    const sign = direction === 'ArrowUp' ? -1 : 1;
    for (let node = 0; node < layout.boxes.length / 4; node++) {
      const isSameColumn = layout.boxes[node * 4] === layout.boxes[from * 4];
      if (isSameColumn && (middle(node) - middle(from)) * sign > 0) candidates.push(node);
    }
  }
  return candidates.reduce(
    (best, node) =>
      best === from || Math.abs(middle(node) - middle(from)) < Math.abs(middle(best) - middle(from)) ? node : best,
    from,
  );
}
