/** What a canvas shows: `scale` pixels per unit, with the point 0, 0 of the drawing at `x`, `y`. */
export interface View {
  readonly scale: number;
  readonly x: number;
  readonly y: number;
}

/** Width and height in pixels. */
export interface Size {
  readonly width: number;
  readonly height: number;
}

/** Also for the bands of groups and their names, which are above the boxes. */
const MARGIN = 32;
/** From this scale on, names can be read well. */
const READABLE = 0.7;
/** From this scale on, a whole drawing is better than a part whose names can be read well. */
const WHOLE = 0.45;
const MIN_SCALE = 0.005;
const MAX_SCALE = 3;

/** The view that shows a whole drawing. Small drawings are not enlarged. */
export function fitView(drawing: Size, canvas: Size): View {
  const scale = clampScale(
    Math.min(1, (canvas.width - 2 * MARGIN) / drawing.width, (canvas.height - 2 * MARGIN) / drawing.height),
  );
  return {
    scale,
    x: (canvas.width - drawing.width * scale) / 2,
    y: (canvas.height - drawing.height * scale) / 2,
  };
}

/** The view at first: the whole drawing, or the beginning of one that would be too small to be read, but not by far. At the top. */
export function startView(drawing: Size, canvas: Size): View {
  const whole = fitView(drawing, canvas);
  if (whole.scale >= WHOLE || whole.scale < READABLE / 2.5) return { ...whole, y: Math.min(whole.y, MARGIN) };
  return { scale: READABLE, x: MARGIN, y: MARGIN };
}

/** Changes the scale and keeps the point of the drawing at `at`, in pixels of the canvas, where it is. */
export function zoomAt(view: View, factor: number, at: { x: number; y: number }): View {
  const scale = clampScale(view.scale * factor);
  const change = scale / view.scale;
  return { scale, x: at.x - (at.x - view.x) * change, y: at.y - (at.y - view.y) * change };
}

/** Moves the view as little as needed to show a box of the drawing with a margin. */
export function revealBox(view: View, box: Box, canvas: Size): View {
  const shift = (low: number, high: number, size: number) => {
    if (low < MARGIN) return MARGIN - low;
    return high > size - MARGIN ? Math.max(MARGIN - low, size - MARGIN - high) : 0;
  };
  return {
    scale: view.scale,
    x: view.x + shift(box.left * view.scale + view.x, box.right * view.scale + view.x, canvas.width),
    y: view.y + shift(box.top * view.scale + view.y, box.bottom * view.scale + view.y, canvas.height),
  };
}

/** A rectangle of the drawing. */
export interface Box {
  readonly left: number;
  readonly top: number;
  readonly right: number;
  readonly bottom: number;
}

/** The part of the drawing that the canvas shows. */
export function visibleBox({ scale, x, y }: View, { width, height }: Size): Box {
  return { left: -x / scale, top: -y / scale, right: (width - x) / scale, bottom: (height - y) / scale };
}

function clampScale(scale: number): number {
  return Math.min(MAX_SCALE, Math.max(MIN_SCALE, Number.isFinite(scale) ? scale : 1));
}
