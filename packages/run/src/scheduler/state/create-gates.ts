import type { Plan } from '@sluice/core';

/** What a run knows of its gates at the beginning, and the first gate of each step. */
export function createGates({ steps }: Plan) {
  const gateBase = new Int32Array(steps.length);
  let count = 0;
  for (const { index, step, cells } of steps) {
    gateBase[index] = count;
    count += step.each === undefined ? 1 : (cells?.length ?? 0);
  }
  return {
    gateBase,
    phase: new Uint8Array(count),
    blockers: new Int32Array(count),
    needers: new Int32Array(count).fill(-1),
    causeKind: new Uint8Array(count),
    causeStep: new Int32Array(count).fill(-1),
    causeCell: new Int32Array(count).fill(-1),
    causeEdge: new Uint8Array(count),
  };
}
