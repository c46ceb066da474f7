import { BOX_HEIGHT } from '../layout/plan-shape.ts';
import type { LanePicture } from './draw-lanes.ts';
import type { Palette } from './palette.ts';
import { tracePath } from './trace-path.ts';

/** As `membersOf` returns them. */
type Groups = ReadonlyMap<string, readonly number[]>;

const MARGIN = 12;
const ALPHA = 0.16;
/** Of the panel's color, around the names. */
const NAME_EDGE = 3;
const FONT = '11px system-ui, sans-serif';

/** Draws a band below the steps of `finally`, with its name, and one below the boxes and edges of each group. */
export function drawGroups(
  context: CanvasRenderingContext2D,
  picture: LanePicture,
  { groups, palette, hasText }: { readonly groups: Groups; readonly palette: Palette; readonly hasText: boolean },
): void {
  drawFinals(context, picture, { palette, hasText });
  if (groups.size === 0) return;
  const { layout, steps, ends } = picture;
  const edges = new Map<string, number[]>([...groups.keys()].map((name) => [name, []]));
  for (let edge = 0; edge < ends.length / 2; edge++) {
    const { group } = steps[ends[edge * 2]!]!;
    if (group !== undefined && group === steps[ends[edge * 2 + 1]!]!.group) edges.get(group)!.push(edge);
  }
  context.lineCap = context.lineJoin = 'round';
  for (const [name, members] of groups) {
    context.globalAlpha = ALPHA;
    context.strokeStyle = palette.soft;
    context.lineWidth = BOX_HEIGHT + MARGIN;
    context.beginPath();
    for (const step of members) {
      const [left, top, right, bottom] = layout.boxes.subarray(step * 4, step * 4 + 4) as unknown as number[];
      const middle = (top! + bottom!) / 2;
      context.moveTo(left! + BOX_HEIGHT / 2, middle);
      context.lineTo(right! - BOX_HEIGHT / 2, middle);
    }
    for (const edge of edges.get(name)!) tracePath(context, layout, edge);
    // One stroke: where its parts overlap, the color is the same.
    context.stroke();
    context.globalAlpha = 1;
  }
  context.lineCap = 'butt';
  context.lineJoin = 'miter';
}

/** Writes the names of the groups above their first boxes: over lanes and edges, which would cover them. */
export function drawGroupNames(
  context: CanvasRenderingContext2D,
  { layout, groups }: Pick<LanePicture, 'layout'> & { readonly groups: Groups },
  { soft, panel }: Palette,
): void {
  context.font = FONT;
  context.fillStyle = soft;
  context.strokeStyle = panel;
  context.lineWidth = NAME_EDGE;
  context.lineJoin = 'round';
  for (const [name, [first]] of groups) {
    const [x, y] = [layout.boxes[first! * 4]! + 2, layout.boxes[first! * 4 + 1]! - 4];
    context.strokeText(name, x, y);
    context.fillText(name, x, y);
  }
  context.lineJoin = 'miter';
}

/** They run after all others, so the band has the height of the whole graph, and an arrow leads to it. */
function drawFinals(
  context: CanvasRenderingContext2D,
  { layout, steps }: LanePicture,
  { palette, hasText }: { readonly palette: Palette; readonly hasText: boolean },
): void {
  let [left, right, before] = [Infinity, -Infinity, -Infinity];
  steps.forEach(({ final }, step) => {
    if (!final) before = Math.max(before, layout.boxes[step * 4 + 2]!);
    else {
      left = Math.min(left, layout.boxes[step * 4]!);
      right = Math.max(right, layout.boxes[step * 4 + 2]!);
    }
  });
  if (left > right) return;
  const [x, y, width, height] = [left - MARGIN, -MARGIN, right - left + 2 * MARGIN, layout.height + 2 * MARGIN];
  context.globalAlpha = ALPHA;
  context.fillStyle = palette.soft;
  context.beginPath();
  context.roundRect(x, y, width, height, 10);
  context.fill();
  context.globalAlpha = 1;
  context.strokeStyle = palette.edge;
  context.lineWidth = 1.3;
  if (before < x) {
    const middle = layout.height / 2;
    context.beginPath();
    context.moveTo(before + 4, middle);
    context.lineTo(x, middle);
    context.moveTo(x - 6, middle - 5);
    context.lineTo(x, middle);
    context.lineTo(x - 6, middle + 5);
    context.stroke();
  }
  if (!hasText) return;
  context.fillStyle = palette.soft;
  context.font = FONT;
  context.fillText('finally, after all others', x + 6, y - 5);
}
