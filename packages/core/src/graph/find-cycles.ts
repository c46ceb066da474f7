import { levelsOf, type StepGraph } from './step-graph.ts';

/** A strongly connected component: steps that depend on each other. */
export interface Cycle {
  /** All nodes of the component, ascending. */
  readonly component: readonly number[];
  /** A shortest path from the smallest node of the component back to itself; that node is listed once, first. */
  readonly path: readonly number[];
}

/**
 * Every cyclic component once, ordered by its smallest node. Iterative (Tarjan's algorithm with an explicit stack), so
 * that long chains do not exhaust the stack; if all nodes have a level, there is no cycle.
 */
export function findCycles(graph: StepGraph): readonly Cycle[] {
  if (!levelsOf(graph).includes(-1)) return [];
  const cycles: Cycle[] = [];
  for (const component of components(graph)) {
    const [first] = component;
    if (first === undefined) continue;
    if (component.length === 1 && !sourcesOf(graph, first).includes(first)) continue;
    cycles.push({ component, path: shortestWayBack(graph, { from: first, within: new Set(component) }) });
  }
  return cycles.sort((a, b) => (a.component[0] ?? 0) - (b.component[0] ?? 0));
}

function sourcesOf({ offsets, sources }: StepGraph, node: number): Int32Array {
  return sources.subarray(offsets[node], offsets[node + 1]);
}

function components(graph: StepGraph): number[][] {
  const { nodes, offsets, sources } = graph;
  const order = new Int32Array(nodes).fill(-1);
  const low = new Int32Array(nodes);
  const onStack = new Uint8Array(nodes);
  const next = new Int32Array(nodes);
  const open: number[] = [];
  const path: number[] = [];
  const found: number[][] = [];
  let count = 0;
  const enter = (node: number): void => {
    order[node] = low[node] = count++;
    onStack[node] = 1;
    next[node] = offsets[node] as number;
    open.push(node);
    path.push(node);
  };
  const leave = (node: number): void => {
    path.pop();
    const parent = path.at(-1);
    if (parent !== undefined) low[parent] = Math.min(low[parent] as number, low[node] as number);
    if (low[node] !== order[node]) return;
    const component: number[] = [];
    for (let member = open.pop(); member !== undefined; member = open.pop()) {
      onStack[member] = 0;
      component.push(member);
      if (member === node) break;
    }
    found.push(component.sort((a, b) => a - b));
  };
  for (let root = 0; root < nodes; root++) {
    if (order[root] !== -1) continue;
    enter(root);
    for (let node = path.at(-1); node !== undefined; node = path.at(-1)) {
      if ((next[node] as number) === (offsets[node + 1] as number)) {
        leave(node);
        continue;
      }
      const source = sources[next[node]!++] as number;
      if (order[source] === -1) enter(source);
      else if (onStack[source] === 1) low[node] = Math.min(low[node] as number, order[source] as number);
    }
  }
  return found;
}

function shortestWayBack(graph: StepGraph, { from, within }: { from: number; within: ReadonlySet<number> }): number[] {
  const cameFrom = new Map<number, number>();
  const queue = [from];
  for (let head = 0; head < queue.length; head++) {
    const node = queue[head] as number;
    for (const source of sourcesOf(graph, node)) {
      if (source === from) return wayTo(node, from, cameFrom);
      if (!within.has(source) || cameFrom.has(source)) continue;
      cameFrom.set(source, node);
      queue.push(source);
    }
  }
  return [from];
}

function wayTo(end: number, from: number, cameFrom: ReadonlyMap<number, number>): number[] {
  const way = [end];
  for (let node = end; node !== from; ) {
    node = cameFrom.get(node) ?? from;
    way.push(node);
  }
  return way.reverse();
}
