import type { GraphLayout } from '../layout/layout-graph.ts';

/** Adds an edge to the path of a context. */
export function tracePath(context: CanvasRenderingContext2D, layout: GraphLayout, edge: number): void {
  const first = layout.firstPoints[edge]! * 2;
  context.moveTo(layout.points[first]!, layout.points[first + 1]!);
  traceBends(context, layout, edge);
}

/** As `tracePath`, from where the path ends, which is the beginning of the edge. */
export function traceBends(
  context: CanvasRenderingContext2D,
  { points, firstPoints }: GraphLayout,
  edge: number,
): void {
  const first = firstPoints[edge]!;
  for (let point = first + 1; point < firstPoints[edge + 1]!; point++) {
    const [x0, y0] = [points[point * 2 - 2]!, points[point * 2 - 1]!];
    const [x, y] = [points[point * 2]!, points[point * 2 + 1]!];
    const bend = Math.max(20, (x - x0) / 2);
    if (y === y0) context.lineTo(x, y);
    else context.bezierCurveTo(x0 + bend, y0, x - bend, y, x, y);
  }
}
