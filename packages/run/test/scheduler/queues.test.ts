import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createKeyHeap } from '../../src/scheduler/state/key-heap.ts';
import { createReadyQueue } from '../../src/scheduler/state/ready-queue.ts';
import { createTimers } from '../../src/scheduler/state/timers.ts';

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
const LANES: readonly { readonly limits: readonly number[]; readonly amounts: readonly number[] }[] = [
  { limits: [], amounts: [] },
  { limits: [0], amounts: [1] },
  { limits: [0], amounts: [3] },
  { limits: [0, 1], amounts: [1, 2] },
  { limits: [1, 2], amounts: [1, 3] },
  { limits: [2], amounts: [1] },
  { limits: [1], amounts: [9] },
];

describe('createReadyQueue', () => {
  test('createReadyQueue: picks the best that fits, lets nobody wait for nothing and nobody overtake', () => {
    fc.assert(
      fc.property(
        fc.array(fc.integer({ min: -8, max: 6 }), { maxLength: 80, size: 'max' }),
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
              const taken = queue.pick();
              const picked = waiting.find((one) => one.key === taken);
              expect(picked === undefined).toBe(taken === -1);
              checkPick(picked, { waiting, held, capacity });
              if (picked === undefined) break;
              waiting = waiting.filter((other) => other !== picked);
              held.push(picked);
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

interface Books {
  readonly waiting: readonly Waiting[];
  readonly held: readonly Waiting[];
  readonly capacity: number;
}

/** What any pick must obey, found by a search through everything that waits and holds. */
function checkPick(picked: Waiting | undefined, { waiting, held, capacity }: Books): void {
  const used = LIMITS.map((_, limit) => held.reduce((sum, { lane }) => sum + amountOf(lane, limit), 0));
  const fits = ({ lane }: Waiting) => LIMITS.every(({ size }, limit) => used[limit]! + amountOf(lane, limit) <= size);
  const possible = waiting.filter(({ lane }) => LIMITS.every(({ size }, limit) => amountOf(lane, limit) <= size));
  const betterThan = (one: Waiting) => possible.filter(({ key }) => key < one.key);
  const meet = (one: Waiting, other: Waiting) =>
    LANES[one.lane]!.limits.some((limit) => amountOf(other.lane, limit) > 0);
  const free = possible.filter((one) => fits(one) && !betterThan(one).some((other) => meet(one, other)));
  if (picked === undefined) {
    if (held.length < capacity) expect(free).toEqual([]);
    return;
  }
  expect(held.length).toBeLessThan(capacity);
  expect(fits(picked)).toBe(true);
  for (const one of free) expect(picked.key).toBeLessThanOrEqual(one.key);
  for (const other of betterThan(picked)) {
    expect(other.lane).not.toBe(picked.lane);
    // A better one that is passed over lacks room; where it asks for one limit only, that is where it must not be overtaken.
    if (LANES[other.lane]!.limits.length === 1) expect(meet(other, picked)).toBe(false);
  }
}

function amountOf(lane: number, limit: number): number {
  const at = LANES[lane]!.limits.indexOf(limit);
  return at < 0 ? 0 : LANES[lane]!.amounts[at]!;
}
