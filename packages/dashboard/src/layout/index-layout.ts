import Flatbush from 'flatbush';
import type { GraphLayout } from './layout-graph.ts';

/** A layout with what finds its parts by place. It can be sent between threads and stored. */
export interface Drawing {
  readonly layout: GraphLayout;
  readonly nodes?: ArrayBuffer;
  readonly edges?: ArrayBuffer;
}

/** Builds the spatial indexes of a layout: flatbush data of nodes and edges. An index of nothing does not exist. */
export function indexLayout({ boxes, points, firstPoints }: GraphLayout): Pick<Drawing, 'nodes' | 'edges'> {
  const nodes = index(boxes.length / 4, (node) => [
    boxes[node * 4]!,
    boxes[node * 4 + 1]!,
    boxes[node * 4 + 2]!,
    boxes[node * 4 + 3]!,
  ]);
  const edges = index(firstPoints.length - 1, (edge) => {
    let [left, top, right, bottom] = [Infinity, Infinity, -Infinity, -Infinity];
    for (let point = firstPoints[edge]!; point < firstPoints[edge + 1]!; point++) {
      left = Math.min(left, points[point * 2]!);
      right = Math.max(right, points[point * 2]!);
      top = Math.min(top, points[point * 2 + 1]!);
      bottom = Math.max(bottom, points[point * 2 + 1]!);
    }
    return [left, top, right, bottom];
  });
  return { ...(nodes && { nodes }), ...(edges && { edges }) };
}

function index(
  count: number,
  boxOf: (item: number) => readonly [number, number, number, number],
): ArrayBuffer | undefined {
  if (count <= 0) return undefined;
  const tree = new Flatbush(count, 16, Float32Array);
  for (let item = 0; item < count; item++) tree.add(...boxOf(item));
  tree.finish();
  return tree.data as ArrayBuffer;
}
