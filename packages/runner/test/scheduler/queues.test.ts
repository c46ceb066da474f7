import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createKeyHeap } from '../../src/scheduler/key-heap.ts';
import { createReadyQueue } from '../../src/scheduler/ready-queue.ts';
import { createTimers } from '../../src/scheduler/timers.ts';

describe('createKeyHeap', () => {
  test('createKeyHeap: gives its keys back in order, also after some were dropped', () => {
    fc.assert(
      fc.property(fc.array(fc.integer()), fc.integer({ min: 1, max: 5 }), (keys, divisor) => {
        const heap = createKeyHeap(1);
        for (const key of keys) heap.push(key);
        heap.retain((key) => key % divisor === 0);
        const wanted = keys.filter((key) => key % divisor === 0).sort((a, b) => a - b);
        expect([...heap.keys()].sort((a, b) => a - b)).toEqual(wanted);
        expect(heap.top).toBe(wanted[0] ?? Infinity);
        expect(wanted.map(() => heap.pop())).toEqual(wanted);
        expect(heap.size).toBe(0);
        expect(heap.pop()).toBe(Infinity);
      }),
    );
  });
});

describe('createTimers', () => {
  test('createTimers: the soonest comes first, those for one moment in the order they were set', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0, max: 5 })), (times) => {
        const timers = createTimers();
        times.forEach((at, step) => {
          timers.add({ at, kind: 'due', step, cell: 0, attempt: 0 });
        });
        timers.retain(({ step }) => step % 3 !== 0);
        const wanted = times.map((at, step) => ({ at, step })).filter(({ step }) => step % 3 !== 0);
        wanted.sort((a, b) => a.at - b.at || a.step - b.step);
        expect(timers.size).toBe(wanted.length);
        expect(wanted.map(() => timers.pop()).map((timer) => timer?.step)).toEqual(wanted.map(({ step }) => step));
        expect(timers.next).toBeUndefined();
      }),
    );
  });
});

interface Waiting {
  readonly lane: number;
  readonly key: number;
}

const LIMITS = [3, 2, 4].map((size, i) => ({ kind: 'pool' as const, name: `p${i}`, size }));
const LANES = [
  { limits: [], amounts: [] },
  { limits: [0], amounts: [1] },
  { limits: [0], amounts: [3] },
  { limits: [0, 1], amounts: [1, 2] },
  { limits: [1, 2], amounts: [1, 3] },
  { limits: [2], amounts: [1] },
  { limits: [1], amounts: [9] },
];

describe('createReadyQueue', () => {
  test('createReadyQueue: picks what a search through everything that waits would pick', () => {
    fc.assert(
      fc.property(
        fc.array(fc.integer({ min: -8, max: 6 }), { maxLength: 80 }),
        fc.integer({ min: 1, max: 6 }),
        (moves, capacity) => {
          const queue = createReadyQueue(capacity, { limits: LIMITS, lanes: LANES });
          let waiting: Waiting[] = [];
          const held: Waiting[] = [];
          let key = 0;
          for (const move of moves) {
            if (move >= 0) {
              key += 1;
              // A key that is smaller than those before it now and then, since a retry comes back in its old place.
              const placed = { lane: move, key: key % 3 === 0 ? -key : key };
              waiting.push(placed);
              queue.push(placed.lane, placed.key);
            } else if (held.length > 0) {
              const [freed] = held.splice(-move % held.length, 1);
              queue.release(freed!.lane);
            }
            for (;;) {
              const expected = bestOf(waiting, held, capacity);
              const picked = queue.pick();
              expect(picked === -1 ? undefined : picked).toBe(expected?.key);
              if (expected === undefined) break;
              waiting = waiting.filter((other) => other !== expected);
              held.push(expected);
            }
          }
        },
      ),
      { numRuns: Number(process.env.SLUICE_LAW_RUNS ?? 400) },
    );
  });

  test('createReadyQueue: what was dropped is neither picked nor in the way', () => {
    const queue = createReadyQueue(9, { limits: LIMITS, lanes: LANES });
    queue.push(1, 0);
    expect(queue.pick()).toBe(0);
    queue.push(2, 1);
    queue.push(1, 2);
    expect(queue.pick()).toBe(-1);
    queue.retain((key) => key !== 1);
    expect(queue.pick()).toBe(2);
  });
});

/** The rule in its plainest form: the best waiting cell that has room everywhere and overtakes nobody who lacks it there. */
function bestOf(waiting: readonly Waiting[], held: readonly Waiting[], capacity: number): Waiting | undefined {
  if (held.length >= capacity) return undefined;
  const used = LIMITS.map(() => 0);
  for (const { lane } of held) {
    const { limits, amounts } = LANES[lane]!;
    for (const [i, limit] of limits.entries()) used[limit]! += amounts[i]!;
  }
  const contested = new Set<number>();
  for (const cell of [...waiting].sort((a, b) => a.key - b.key)) {
    const { limits, amounts } = LANES[cell.lane]!;
    if (limits.some((limit, i) => amounts[i]! > LIMITS[limit]!.size)) continue;
    const lacking = limits.find((limit, i) => contested.has(limit) || used[limit]! + amounts[i]! > LIMITS[limit]!.size);
    if (lacking === undefined) return cell;
    contested.add(lacking);
  }
  return undefined;
}
