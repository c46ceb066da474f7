/**
 * The edges of a graph in compressed rows: the sources of node `n` are `sources[offsets[n]] … sources[offsets[n+1]-1]`.
 * A graph of objects needs twelve microseconds per edge, typed arrays some nanoseconds.
 */
export interface StepGraph {
  readonly nodes: number;
  readonly offsets: Int32Array;
  readonly sources: Int32Array;
}

/** Row `n` lists the nodes that node `n` depends on. */
export function createStepGraph(rows: readonly (readonly { readonly on: number }[])[]): StepGraph {
  const offsets = new Int32Array(rows.length + 1);
  for (let node = 0; node < rows.length; node++) offsets[node + 1] = (offsets[node] ?? 0) + (rows[node]?.length ?? 0);
  const sources = new Int32Array(offsets[rows.length] ?? 0);
  let at = 0;
  for (const row of rows) for (const { on } of row) sources[at++] = on;
  return { nodes: rows.length, offsets, sources };
}

/** The longest distance of each node from a node without sources; -1 for nodes on a cycle or after one. */
export function levelsOf({ nodes, offsets, sources }: StepGraph): Int32Array {
  const open = new Int32Array(nodes);
  const targetOffsets = new Int32Array(nodes + 1);
  for (let edge = 0; edge < sources.length; edge++) targetOffsets[(sources[edge] as number) + 1]!++;
  for (let node = 0; node < nodes; node++) targetOffsets[node + 1]! += targetOffsets[node] as number;
  const targets = new Int32Array(sources.length);
  const filled = targetOffsets.slice();
  for (let node = 0; node < nodes; node++) {
    for (let edge = offsets[node] as number; edge < (offsets[node + 1] as number); edge++) {
      targets[filled[sources[edge] as number]!++] = node;
    }
    open[node] = (offsets[node + 1] as number) - (offsets[node] as number);
  }
  const levels = new Int32Array(nodes).fill(-1);
  const queue = new Int32Array(nodes);
  let end = 0;
  for (let node = 0; node < nodes; node++) {
    if (open[node] !== 0) continue;
    levels[node] = 0;
    queue[end++] = node;
  }
  for (let head = 0; head < end; head++) {
    const node = queue[head] as number;
    for (let edge = targetOffsets[node] as number; edge < (targetOffsets[node + 1] as number); edge++) {
      const target = targets[edge] as number;
      open[target]!--;
      if (open[target] === 0) {
        levels[target] = distance(target);
        queue[end++] = target;
      }
    }
  }
  return levels;

  function distance(target: number): number {
    let most = 0;
    for (let edge = offsets[target] as number; edge < (offsets[target + 1] as number); edge++) {
      most = Math.max(most, (levels[sources[edge] as number] as number) + 1);
    }
    return most;
  }
}
