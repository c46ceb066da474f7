import type Flatbush from 'flatbush';
import type { GraphLayout } from '../layout/layout-graph.ts';
import { BOX_HEIGHT, CELL_SIZE, GRID_MARGIN, gridColumns } from '../layout/plan-shape.ts';
import { membersOf } from '../model/fold-steps.ts';
import { renderCount } from '../model/render-count.ts';
import { countsOf, type RunModel, stepCodes } from '../model/run-model.ts';
import { BAR_ORDER, STATUSES } from '../model/statuses.ts';
import { drawGroupNames, drawGroups } from './draw-groups.ts';
import { drawLanes, type LanePicture } from './draw-lanes.ts';
import type { Palette } from './palette.ts';
import { tracePath } from './trace-path.ts';
import { type Size, type View, visibleBox } from './view.ts';

/** All that a picture of a graph depends on. */
export interface GraphPicture extends LanePicture {
  readonly model: RunModel;
  readonly nodes: Flatbush | undefined;
  readonly edges: Flatbush | undefined;
  readonly expanded: ReadonlyMap<number, number>;
  readonly selected: number | undefined;
  /** Steps of the critical path. */
  readonly critical: ReadonlySet<number>;
  /** 0 for each step that is drawn faintly, since a search or filter leaves it out. */
  readonly shown: Uint8Array;
}

const FAINT = 0.18;
/** Below this scale, boxes are drawn without text. */
const TEXT_SCALE = 0.42;
/** Below this scale, boxes are drawn in one color. */
const BAR_SCALE = 0.16;
/** The most edges that are drawn while the boxes are dots. */
const MAX_FAR_EDGES = 6_000;
const FONT = 'system-ui, sans-serif';

/** Draws the visible part of a graph, with less detail the smaller it is. */
export function drawGraph(
  context: CanvasRenderingContext2D,
  picture: GraphPicture,
  { view, size, palette, ratio }: { view: View; size: Size; palette: Palette; ratio: number },
): void {
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.clearRect(0, 0, size.width, size.height);
  context.setTransform(ratio * view.scale, 0, 0, ratio * view.scale, ratio * view.x, ratio * view.y);
  const { left, top, right, bottom } = visibleBox(view, size);
  const isVisible = (index: Flatbush | undefined) => index?.search(left, top, right, bottom) ?? [];
  const hasText = view.scale >= TEXT_SCALE;
  const groups = view.scale >= BAR_SCALE ? membersOf(picture.steps) : undefined;
  if (groups !== undefined) drawGroups(context, picture, { groups, palette, hasText });
  drawLanes(context, picture, { palette, hasText });
  drawEdges(context, picture, { visible: isVisible(picture.edges), view, palette });
  const visible = isVisible(picture.nodes);
  if (view.scale < BAR_SCALE) drawDots(context, picture, { visible, palette });
  else {
    for (const step of visible) {
      context.globalAlpha = picture.shown[step] === 0 ? FAINT : 1;
      drawBox(context, picture, { step, palette, hasText, scale: view.scale });
    }
  }
  context.globalAlpha = 1;
  if (groups !== undefined && hasText) drawGroupNames(context, { ...picture, groups }, palette);
  if (picture.selected !== undefined) drawSelection(context, picture, { step: picture.selected, view, palette });
}

interface EdgesOptions {
  readonly visible: readonly number[];
  readonly view: View;
  readonly palette: Palette;
}

function drawEdges(context: CanvasRenderingContext2D, picture: GraphPicture, options: EdgesOptions): void {
  const { visible, view, palette } = options;
  const { ends, critical, selected, shown: isShown } = picture;
  const groups = { faint: [] as number[], plain: [] as number[], critical: [] as number[], near: [] as number[] };
  const shown = view.scale < BAR_SCALE ? visible.slice(0, MAX_FAR_EDGES) : visible;
  for (const edge of shown) {
    const [from, to] = [ends[edge * 2]!, ends[edge * 2 + 1]!];
    if (selected === from || selected === to) groups.near.push(edge);
    else if (isShown[from] === 0 || isShown[to] === 0) groups.faint.push(edge);
    else (critical.has(from) && critical.has(to) ? groups.critical : groups.plain).push(edge);
  }
  const stroke = (edges: readonly number[], color: string, width: number) => {
    if (edges.length === 0) return;
    context.strokeStyle = color;
    context.lineWidth = Math.max(width, Math.min(1, width * 0.6) / view.scale);
    context.beginPath();
    const trace = view.scale < BAR_SCALE ? traceLine : tracePath;
    for (const edge of edges) trace(context, picture.layout, edge);
    context.stroke();
  };
  context.globalAlpha = FAINT;
  stroke(groups.faint, palette.edge, 1.3);
  context.globalAlpha = view.scale < BAR_SCALE ? 0.5 : 1;
  stroke(groups.plain, palette.edge, 1.3);
  context.globalAlpha = 1;
  stroke(groups.critical, palette.ink, 2);
  stroke(groups.near, palette.accent, 2);
}

/** Far away, bends are not seen, but take most of the time. */
function traceLine(context: CanvasRenderingContext2D, { points, firstPoints }: GraphLayout, edge: number): void {
  const first = firstPoints[edge]!;
  context.moveTo(points[first * 2]!, points[first * 2 + 1]!);
  for (let point = first + 1; point < firstPoints[edge + 1]!; point++)
    context.lineTo(points[point * 2]!, points[point * 2 + 1]!);
}

interface BoxOptions {
  readonly step: number;
  readonly palette: Palette;
}

/** All boxes of one color at once: changing it takes longer than drawing a box. */
function drawDots(
  context: CanvasRenderingContext2D,
  { layout: { boxes }, model, shown }: GraphPicture,
  { visible, palette }: { visible: readonly number[]; palette: Palette },
): void {
  const codes = stepCodes(model);
  const groups = new Map<number, number[]>();
  for (const step of visible) {
    const group = codes[step]! * 2 + shown[step]!;
    const known = groups.get(group);
    if (known) known.push(step);
    else groups.set(group, [step]);
  }
  for (const [group, steps] of groups) {
    context.fillStyle = palette.states[group >> 1]!;
    context.globalAlpha = group % 2 === 0 ? FAINT : 1;
    for (const step of steps) {
      const [left, top] = [boxes[step * 4]!, boxes[step * 4 + 1]!];
      context.fillRect(left, top, boxes[step * 4 + 2]! - left, boxes[step * 4 + 3]! - top);
    }
  }
}

function drawBox(
  context: CanvasRenderingContext2D,
  picture: GraphPicture,
  { step, palette, hasText, scale }: BoxOptions & { hasText: boolean; scale: number },
): void {
  const { layout, model, steps, critical, expanded } = picture;
  const [left, top, right, bottom] = boxOf(layout, step);
  const counts = countsOf(model, step);
  const code = stepCodes(model)[step]!;
  context.fillStyle = palette.page;
  context.strokeStyle = critical.has(step) ? palette.ink : palette.line;
  context.lineWidth = critical.has(step) ? 2 : 1.2;
  context.beginPath();
  context.roundRect(left, top, right - left, bottom - top, 6);
  context.fill();
  context.stroke();
  drawBar(context, { counts, left, width: right - left, y: top + BOX_HEIGHT - 9, palette });
  if (hasText) {
    context.fillStyle = palette.states[code]!;
    context.font = `600 14px ${FONT}`;
    context.fillText(STATUSES[code]!.mark, left + 9, top + 21);
    context.fillStyle = palette.ink;
    context.font = `500 13px ${FONT}`;
    const cells = model.cells[step]!.length;
    const many = cells > 1 ? ` ×${renderCount(cells)}` : '';
    const space = right - left - 38 - many.length * 8;
    context.fillText(fitText(context, steps[step]!.step, space), left + 28, top + 21);
    if (many !== '') {
      context.fillStyle = palette.soft;
      context.font = `12px ${FONT}`;
      context.fillText(many, right - 10 - context.measureText(many).width, top + 21);
    }
  }
  if (expanded.has(step)) drawGrid(context, { codes: model.cells[step]!, left, top, palette, scale });
}

interface BarOptions {
  readonly counts: ArrayLike<number>;
  readonly left: number;
  readonly width: number;
  readonly y: number;
  readonly palette: Palette;
}

function drawBar(context: CanvasRenderingContext2D, { counts, left, width, y, palette }: BarOptions): void {
  let total = 0;
  for (const code of BAR_ORDER) total += counts[code]!;
  const inner = width - 16;
  let x = left + 8;
  if (total === 0) {
    context.fillStyle = palette.states[0]!;
    context.fillRect(x, y + 1, inner, 2);
  }
  for (const code of BAR_ORDER) {
    if (counts[code] === 0) continue;
    const part = (inner * counts[code]!) / total;
    context.fillStyle = palette.states[code]!;
    // A thin line for what has not begun: the share is seen without color as well.
    if (code <= 1) context.fillRect(x, y + 1, part, 2);
    else context.fillRect(x, y - 1, part, 5);
    x += part;
  }
}

interface GridOptions {
  readonly codes: Uint8Array;
  readonly left: number;
  readonly top: number;
  readonly palette: Palette;
  readonly scale: number;
}

function drawGrid(context: CanvasRenderingContext2D, { codes, left, top, palette, scale }: GridOptions): void {
  const columns = gridColumns(codes.length);
  const side = CELL_SIZE * scale >= 5 ? CELL_SIZE - 2 : CELL_SIZE;
  for (const code of BAR_ORDER) {
    context.fillStyle = palette.states[code]!;
    for (let cell = codes.indexOf(code); cell !== -1; cell = codes.indexOf(code, cell + 1)) {
      const x = left + GRID_MARGIN + (cell % columns) * CELL_SIZE;
      const y = top + BOX_HEIGHT + Math.floor(cell / columns) * CELL_SIZE;
      // What has not begun is small: the share is seen without color as well.
      if (code <= 1) context.fillRect(x + 3, y + 3, side - 6, side - 6);
      else context.fillRect(x, y, side, side);
    }
  }
}

function drawSelection(
  context: CanvasRenderingContext2D,
  { layout }: GraphPicture,
  { step, view, palette }: BoxOptions & { view: View },
): void {
  const [left, top, right, bottom] = boxOf(layout, step);
  const gap = 3 / Math.min(1, view.scale);
  context.strokeStyle = palette.accent;
  context.lineWidth = 2.5 / Math.min(1, view.scale);
  context.beginPath();
  context.roundRect(left - gap, top - gap, right - left + 2 * gap, bottom - top + 2 * gap, 8);
  context.stroke();
}

function boxOf({ boxes }: GraphLayout, step: number): readonly [number, number, number, number] {
  return [boxes[step * 4]!, boxes[step * 4 + 1]!, boxes[step * 4 + 2]!, boxes[step * 4 + 3]!];
}

const fitted = new Map<string, string>();
const MAX_FITTED = 20_000;

/** The text, shortened to the width. Measuring is slow, so the results are kept. */
function fitText(context: CanvasRenderingContext2D, text: string, width: number): string {
  const key = `${Math.round(width)} ${text}`;
  const known = fitted.get(key);
  if (known !== undefined) return known;
  if (fitted.size >= MAX_FITTED) fitted.clear();
  const result = shorten(context, text, width);
  fitted.set(key, result);
  return result;
}

function shorten(context: CanvasRenderingContext2D, text: string, width: number): string {
  if (context.measureText(text).width <= width) return text;
  let [low, high] = [0, text.length];
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (context.measureText(`${text.slice(0, middle)}…`).width <= width) low = middle;
    else high = middle - 1;
  }
  return `${text.slice(0, low)}…`;
}
