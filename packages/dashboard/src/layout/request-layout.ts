import type { Drawing } from './index-layout.ts';
import type { GraphShape } from './layout-graph.ts';
import type { LayoutReply, LayoutRequest } from './layout-worker.ts';

/** The most drawings that are kept in memory. */
const MAX_KEPT = 8;
const kept = new Map<string, Promise<Drawing>>();
const open = new Map<number, (drawing: Drawing) => void>();
let worker: Worker | undefined;
let requests = 0;

/** Starts the worker, so that it is ready when the first graph is known. */
export function prepareLayout(): void {
  worker ??= createWorker();
}

/** The drawing of a graph, computed in a worker. Graphs with one `digest` have one drawing, which is kept in the browser. */
export function requestLayout(digest: string, shape: GraphShape): Promise<Drawing> {
  const known = kept.get(digest);
  if (known) return known;
  const drawing = compute(digest, shape);
  kept.set(digest, drawing);
  for (const oldest of [...kept.keys()].slice(0, Math.max(0, kept.size - MAX_KEPT))) kept.delete(oldest);
  return drawing;
}

function compute(digest: string, shape: GraphShape): Promise<Drawing> {
  worker ??= createWorker();
  const number = requests++;
  const request: LayoutRequest = { number, digest, shape };
  worker.postMessage(request);
  return new Promise((resolve) => {
    open.set(number, resolve);
  });
}

function createWorker(): Worker {
  const created = new Worker(new URL('./layout-worker.ts', import.meta.url), { type: 'module' });
  created.onmessage = ({ data }: MessageEvent<LayoutReply>) => {
    open.get(data.number)?.(data.drawing);
    open.delete(data.number);
  };
  return created;
}
