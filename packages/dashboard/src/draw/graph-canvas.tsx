import Flatbush from 'flatbush';
import type { ComponentChildren } from 'preact';
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { findLanes } from '../layout/find-lanes.ts';
import type { Drawing } from '../layout/index-layout.ts';
import type { PlanSteps } from '../layout/plan-shape.ts';
import type { RunModel } from '../model/run-model.ts';
import { drawGraph, type GraphPicture } from './draw-graph.ts';
import { type Direction, findNeighbor } from './find-neighbor.ts';
import { type Palette, readPalette } from './palette.ts';
import { useGestures } from './use-gestures.ts';
import { useView } from './use-view.ts';
import { type Size, type View, zoomAt } from './view.ts';

/** What the graph shows, and what it reports. */
export interface GraphCanvasProps {
  readonly drawing: Drawing;
  readonly steps: PlanSteps;
  readonly model: RunModel;
  readonly ends: Int32Array;
  readonly expanded: ReadonlyMap<number, number>;
  readonly selected: number | undefined;
  readonly critical: ReadonlySet<number>;
  readonly shown: Uint8Array;
  readonly onSelect: (step: number | undefined) => void;
  /** For a double click or the Enter key. */
  readonly onOpen: (step: number) => void;
  readonly onToggle: (step: number) => void;
  /** Folds the group of a step, or unfolds it. */
  readonly onFold?: (step: number) => void;
  /** Further buttons. */
  readonly children?: ComponentChildren;
  readonly label: string;
  /** The codes of states that are drawn in the color of another one. */
  readonly recolored?: ReadonlyMap<number, number>;
}

const ZOOM = 1.3;

/** The graph of a run on a canvas, for the mouse, fingers and the keyboard. */
export function GraphCanvas(props: GraphCanvasProps) {
  const { layout } = props.drawing;
  const canvas = useRef<HTMLCanvasElement>(null);
  const size = useSize(canvas);
  const palette = usePalette(props.recolored);
  const index = useMemo(() => openIndexes(props.drawing), [props.drawing]);
  const { view, move, fit } = useView(layout, size, props.selected);
  const stepAt = (x: number, y: number) => {
    const [at, across] = [(x - view.x) / view.scale, (y - view.y) / view.scale];
    return index.nodes?.search(at, across, at, across)[0];
  };
  const gestures = useGestures({
    view,
    onView: move,
    onClick: (x, y) => props.onSelect(stepAt(x, y)),
    onDoubleClick: (x, y) => {
      const step = stepAt(x, y);
      if (step !== undefined) props.onOpen(step);
    },
  });
  const lanes = useMemo(() => findLanes(props.steps), [props.steps]);
  usePainting(canvas, { ...props, layout, lanes, ...index }, { view, size, palette });
  const zoom = (factor: number) => move(zoomAt(view, factor, { x: size.width / 2, y: size.height / 2 }));
  const onKeyDown = (event: KeyboardEvent) => {
    if (handleKey(event.key, props, { zoom, fit })) event.preventDefault();
  };
  return (
    <div class="graph">
      {/* biome-ignore lint/a11y/noInteractiveElementToNoninteractiveRole: it takes arrow keys itself, as an application does */}
      <canvas
        ref={canvas}
        tabIndex={0}
        role="application"
        aria-label={props.label}
        onKeyDown={onKeyDown}
        {...gestures}
      />
      <div class="zoom">
        {props.children}
        <button type="button" aria-label="Zoom in" title="Zoom in (+)" onClick={() => zoom(ZOOM)}>
          +
        </button>
        <button type="button" aria-label="Zoom out" title="Zoom out (−)" onClick={() => zoom(1 / ZOOM)}>
          −
        </button>
        <button type="button" title="Show the whole graph (0)" onClick={fit}>
          Fit
        </button>
      </div>
    </div>
  );
}

/** Finds nodes and edges of a drawing by place. */
function openIndexes({ nodes, edges }: Drawing): Pick<GraphPicture, 'nodes' | 'edges'> {
  const open = (data: ArrayBuffer | undefined) => data && Flatbush.from(data);
  return { nodes: open(nodes), edges: open(edges) };
}

/** Draws after each rendering, with the next frame. */
function usePainting(
  canvas: { readonly current: HTMLCanvasElement | null },
  picture: GraphPicture,
  { view, size, palette }: { view: View; size: Size; palette: Palette },
): void {
  useEffect(() => {
    const element = canvas.current;
    const context = element?.getContext('2d');
    if (!element || !context || size.width === 0) return;
    const frame = requestAnimationFrame(() => {
      const ratio = devicePixelRatio;
      const [width, height] = [Math.round(size.width * ratio), Math.round(size.height * ratio)];
      // The canvas may have left the page since the frame was requested.
      if (element.width !== width) element.width = width;
      if (element.height !== height) element.height = height;
      drawGraph(context, picture, { view, size, palette, ratio });
    });
    return () => cancelAnimationFrame(frame);
  });
}

interface ViewKeys {
  readonly zoom: (factor: number) => void;
  readonly fit: () => void;
}

/** Whether the key means something here. */
function handleKey(key: string, props: GraphCanvasProps, { zoom, fit }: ViewKeys): boolean {
  const { selected, drawing, ends } = props;
  if (key.startsWith('Arrow')) {
    const from = selected ?? 0;
    const direction = key as Direction;
    props.onSelect(selected === undefined ? from : findNeighbor(drawing.layout, ends, { from, direction }));
  } else if (key === '+' || key === '=') zoom(ZOOM);
  else if (key === '-') zoom(1 / ZOOM);
  else if (key === '0') fit();
  else if (selected !== undefined && key === 'Enter') props.onOpen(selected);
  else if (selected !== undefined && (key === 'e' || key === ' ')) props.onToggle(selected);
  else if (selected !== undefined && key === 'f') props.onFold?.(selected);
  // Otherwise, it closes the dialog that contains the graph.
  else if (selected !== undefined && key === 'Escape') props.onSelect(undefined);
  else return false;
  return true;
}

/** The size of the element in the page, in CSS pixels. */
function useSize(element: { readonly current: HTMLElement | null }): Size {
  const [size, setSize] = useState<Size>({ width: 0, height: 0 });
  useEffect(() => {
    const observer = new ResizeObserver(([entry]) => {
      const { width, height } = entry!.contentRect;
      setSize({ width, height });
    });
    observer.observe(element.current!);
    return () => observer.disconnect();
  }, []);
  return size;
}

/** The colors of the theme, read again when it changes. */
function usePalette(recolored: ReadonlyMap<number, number> | undefined): Palette {
  const [palette, setPalette] = useState(readPalette);
  useEffect(() => {
    const dark = matchMedia('(prefers-color-scheme: dark)');
    const update = () => setPalette(readPalette());
    dark.addEventListener('change', update);
    return () => dark.removeEventListener('change', update);
  }, []);
  return useMemo(() => {
    const { states } = palette;
    return { ...palette, states: states.map((color, code) => states[recolored?.get(code) ?? code] ?? color) };
  }, [palette, recolored]);
}
