import { indexLayout } from './index-layout.ts';
import { type GraphShape, layoutGraph } from './layout-graph.ts';

/** A request to this worker; the reply has the same number. */
export interface LayoutRequest {
  readonly number: number;
  readonly shape: GraphShape;
}

/** What a worker has of the global scope. */
interface WorkerScope {
  onmessage: ((event: MessageEvent<LayoutRequest>) => void) | null;
  postMessage(message: unknown, transfer: Transferable[]): void;
}

const scope = self as unknown as WorkerScope;
scope.onmessage = ({ data: { number, shape } }) => {
  const layout = layoutGraph(shape);
  const { nodes, edges } = indexLayout(layout);
  const buffers = [layout.boxes.buffer, layout.points.buffer, layout.firstPoints.buffer, nodes, edges];
  scope.postMessage(
    { number, drawing: { layout, ...(nodes && { nodes }), ...(edges && { edges }) } },
    buffers.filter((buffer) => buffer !== undefined),
  );
};
