import { type Drawing, indexLayout } from './index-layout.ts';
import { loadDrawing, storeDrawing } from './kept-drawings.ts';
import { type GraphShape, layoutGraph } from './layout-graph.ts';

/** A request to this worker; the reply has the same number. Graphs with one `digest` have one drawing. */
export interface LayoutRequest {
  readonly number: number;
  readonly digest: string;
  readonly shape: GraphShape;
}

/** The reply to a request. */
export interface LayoutReply {
  readonly number: number;
  readonly drawing: Drawing;
}

/** What a worker has of the global scope. */
interface WorkerScope {
  onmessage: ((event: MessageEvent<LayoutRequest>) => void) | null;
  postMessage(message: LayoutReply): void;
}

const scope = self as unknown as WorkerScope;
// Opening the storage takes longer than what follows, and the first request comes later than this.
void loadDrawing('');
scope.onmessage = ({ data }) => void reply(data);

async function reply({ number, digest, shape }: LayoutRequest): Promise<void> {
  const stored = await loadDrawing(digest);
  if (stored) return scope.postMessage({ number, drawing: stored });
  const layout = layoutGraph(shape);
  const drawing = { layout, ...indexLayout(layout) };
  scope.postMessage({ number, drawing });
  await storeDrawing(digest, drawing);
}
