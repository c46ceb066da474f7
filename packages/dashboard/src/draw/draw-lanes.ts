import type { GraphLayout } from '../layout/layout-graph.ts';
import { BOX_HEIGHT, type PlanSteps } from '../layout/plan-shape.ts';
import type { Palette } from './palette.ts';
import { traceBends } from './trace-path.ts';

const MARGIN = 8;
const ALPHA = 0.13;
/** The ends of a band are round. */
const INSET = BOX_HEIGHT / 2;

/** What the lanes of a graph are drawn from. */
export interface LanePicture {
  readonly layout: GraphLayout;
  readonly steps: PlanSteps;
  /** The two steps of each edge. */
  readonly ends: Int32Array;
  readonly lanes: readonly (readonly number[])[];
}

/** Draws each chain of steps with the same axes as a band below its boxes and edges, with the names of the axes. */
export function drawLanes(
  context: CanvasRenderingContext2D,
  { layout, steps, ends, lanes }: LanePicture,
  { palette, hasText }: { readonly palette: Palette; readonly hasText: boolean },
): void {
  if (lanes.length === 0) return;
  const edges = new Map<string, number>();
  for (let edge = 0; edge < ends.length / 2; edge++) edges.set(`${ends[edge * 2]} ${ends[edge * 2 + 1]}`, edge);
  context.lineCap = context.lineJoin = 'round';
  for (const lane of lanes) {
    context.globalAlpha = ALPHA;
    context.strokeStyle = palette.accent;
    context.lineWidth = BOX_HEIGHT + 2 * MARGIN;
    context.beginPath();
    lane.forEach((step, place) => {
      const [left, top, right, bottom] = layout.boxes.subarray(step * 4, step * 4 + 4) as unknown as number[];
      const middle = (top! + bottom!) / 2;
      const edge = edges.get(`${lane[place - 1]} ${step}`);
      if (edge === undefined) context.moveTo(left! + INSET, middle);
      else traceBends(context, layout, edge);
      context.lineTo(place === lane.length - 1 ? right! - INSET : right!, middle);
    });
    // One stroke: where its parts overlap, the color is the same.
    context.stroke();
    context.globalAlpha = 1;
    if (!hasText) continue;
    context.fillStyle = palette.soft;
    context.font = '11px system-ui, sans-serif';
    const first = lane[0]!;
    const names = steps[first]!.each?.join(', ') ?? '';
    context.fillText(names, layout.boxes[first * 4]! + 2, layout.boxes[first * 4 + 1]! - MARGIN - 3);
  }
  context.lineCap = 'butt';
  context.lineJoin = 'miter';
}
