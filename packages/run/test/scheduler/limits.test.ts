import { describe, expect, test } from 'vitest';
import { createRig } from './rig.ts';
import { testPlan } from './test-plan.ts';

const ALL_OF_BIG = { in: { from: { step: 'big', output: 'out' }, path: '/in/in', all: ['y'] } };
const RESULT = { l: { type: 'array' as const, file: 'l' } };

describe('limits', () => {
  test('handle: a cell without free slots waits, with the pool as the reason', () => {
    const rig = createRig(
      testPlan({ a: { pools: { gpu: 2 } }, b: { pools: { gpu: 2 } }, c: {} }, { pools: { gpu: 3 } }),
    );
    expect(rig.start()).toEqual(['submit a #1', 'submit c #1']);
    expect(rig.scheduler.waitReason(1, 0)).toEqual({ kind: 'pool', pool: 'gpu', used: 2, size: 3, needed: 2 });
    expect(rig.done('a')).toEqual(['submit b #1']);
  });

  test('handle: each cell takes its own number of slots', () => {
    const perCell = { pools: { p: '${{ 3 - each.x }}' } };
    const rig = createRig(testPlan({ a: { each: ['x'], perCell } }, { pools: { p: 3 } }));
    expect(rig.start()).toEqual(['submit a/0 #1']);
    expect(rig.scheduler.waitReason(0, 1)).toEqual({ kind: 'pool', pool: 'p', used: 3, size: 3, needed: 2 });
    expect(rig.done('a/0')).toEqual(['submit a/1 #1', 'submit a/2 #1']);
  });

  test('handle: several pools are taken together or not at all', () => {
    const rig = createRig(
      testPlan(
        { a: { pools: { p: 1 } }, both: { pools: { p: 1, q: 1 } }, c: { pools: { q: 1 } } },
        { pools: { p: 1, q: 1 } },
      ),
    );
    expect(rig.start()).toEqual(['submit a #1', 'submit c #1']);
    expect(rig.done('c')).toEqual([]);
    expect(rig.done('a')).toEqual(['submit both #1']);
  });

  test('handle: requests for one slot cannot overtake a request for many forever', () => {
    const small = { pools: { p: 1 } };
    const rig = createRig(
      testPlan(
        { a: small, big: { pools: { p: 2 }, priority: 1, after: ['x'] }, b: small, c: small, x: {} },
        { pools: { p: 2 } },
      ),
    );
    expect(rig.start()).toEqual(['submit x #1', 'submit a #1', 'submit b #1']);
    expect(rig.done('x')).toEqual([]);
    expect(rig.done('a')).toEqual([]);
    expect(rig.done('b')).toEqual(['submit big #1']);
    expect(rig.done('big')).toEqual(['submit c #1']);
  });

  test("handle: a request that no pool can ever meet is held, is in nobody's way, and the run says that it is stuck", () => {
    const rig = createRig(testPlan({ big: { pools: { p: 3 } }, b: { pools: { p: 1 } } }, { pools: { p: 2 } }));
    expect(rig.start()).toEqual(['submit b #1']);
    expect(rig.done('b')).toEqual([]);
    const reason = { kind: 'pool', pool: 'p', used: 0, size: 2, needed: 3 };
    expect(rig.scheduler.stuck()).toEqual([{ step: 0, cell: 0, state: 'ready', reason }]);
  });

  test('handle: parallelism bounds the cells of one step', () => {
    const rig = createRig(testPlan({ fit: { cells: 4, parallelism: 2 }, other: {} }));
    expect(rig.start()).toEqual(['submit fit/0 #1', 'submit fit/1 #1', 'submit other #1']);
    expect(rig.scheduler.waitReason(0, 3)).toEqual({ kind: 'stepParallelism', used: 2, size: 2 });
    expect(rig.done('fit/1')).toEqual(['submit fit/2 #1']);
  });

  test('handle: as many items as the axis allows are in progress, from their first cell to their last', () => {
    const rig = createRig(testPlan({ a: { each: ['x'] }, b: { each: ['x'], after: ['a'] } }, {}, { x: 1 }));
    expect(rig.start()).toEqual(['submit a/0 #1']);
    expect(rig.scheduler.waitReason(0, 1)).toEqual({ kind: 'items', axis: 'x', used: 1, size: 1 });
    expect(rig.done('a/0')).toEqual(['submit b/0 #1']);
    expect(rig.done('b/0')).toEqual(['submit a/1 #1']);
  });

  test('handle: an item that another one needs is in progress beyond the limit', () => {
    const inputs = { a: { from: { step: 'a', output: 'out' }, path: '/in/a', all: ['x'] } };
    const rig = createRig(testPlan({ a: { each: ['x'] }, b: { each: ['x'], after: ['a?a'], inputs } }, {}, { x: 1 }));
    // Without its item of `x`, a cell still agrees on `g`, which the third one does not have.
    expect(rig.start()).toEqual(['submit a/0 #1', 'submit a/1 #1']);
    expect(rig.scheduler.waitReason(0, 2)).toEqual({ kind: 'items', axis: 'x', used: 2, size: 1 });
  });

  test('handle: the items of all lists of an axis count together', () => {
    const plan = testPlan(
      { split: { each: ['y'], results: RESULT }, work: { each: ['l'], after: ['split'] } },
      {},
      { l: 2 },
    );
    const rig = createRig(plan);
    expect(rig.start()).toEqual(['submit split/0 #1', 'submit split/1 #1']);
    rig.done('split/0');
    expect(rig.listed('split/0', 3)).toEqual(['submit work/0 #1', 'submit work/2 #1']);
    expect(rig.scheduler.waitReason(1, 3)).toEqual({ kind: 'items', axis: 'l', used: 2, size: 2 });
    rig.done('split/1');
    expect(rig.listed('split/1', 2)).toEqual([]);
    expect(rig.done('work/0')).toEqual(['submit work/1 #1']);
    expect(rig.done('work/2')).toEqual(['submit work/3 #1']);
  });

  test('handle: of a list, the item that another one names is in progress beyond the limit', () => {
    const inputs = { in: { from: { step: 'a', output: 'out' }, path: '/in/in', where: { l: 'k2' } } };
    const steps = {
      split: { each: ['y'], results: RESULT },
      a: { each: ['l'], after: ['split'] },
      b: { each: ['l'], after: ['split', 'a?in'], inputs },
    };
    const plan = testPlan(steps, {}, { l: 1 });
    const rig = createRig(plan);
    rig.start();
    rig.done('split/0');
    expect(rig.listed('split/0', 4)).toEqual(['submit a/0 #1', 'submit a/3 #1']);
  });

  test('handle: what an item named in a list reads is in progress beyond the limit of another axis', () => {
    const inputs = { in: { from: { step: 'work', output: 'out' }, path: '/in/in', where: { l: 'k0' } } };
    const steps = {
      split: { each: ['x'], results: RESULT },
      a: { each: ['x', 'y'] },
      work: { each: ['l'], after: ['split', 'a!'] },
      b: { each: ['x', 'y'], after: ['work?in'], inputs },
    };
    const plan = testPlan(steps, {}, { y: 1 });
    const rig = createRig(plan);
    rig.start();
    expect(rig.scheduler.waitReason(1, 1)).toEqual({ kind: 'items', axis: 'y', used: 1, size: 1 });
    rig.done('split/0');
    expect(rig.listed('split/0', 1)).toContain('submit a/1 #1');
  });

  test('handle: cells that wait for an item start when those in progress can never start', () => {
    const big = { each: ['y'], pools: { p: 2 } };
    const rig = createRig(
      testPlan(
        { big, a: { each: ['x'] }, b: { each: ['x'], after: ['big?in'], inputs: ALL_OF_BIG } },
        { pools: { p: 1 }, failFast: false },
        { x: 1 },
      ),
    );
    expect(rig.start()).toEqual(['submit a/0 #1']);
    expect(rig.done('a/0')).toEqual([]);
    expect(rig.scheduler.stuck()).toBeDefined();
    expect(rig.send({ type: 'stuck', at: 0, message: 'no slots' })).toEqual(['submit a/1 #1']);
  });

  test('handle: the smaller of parallelism and parallelism bounds the run', () => {
    const rig = createRig(testPlan({ fit: { cells: 4 } }, { parallelism: 3 }), { parallelism: 2 });
    expect(rig.start()).toEqual(['submit fit/0 #1', 'submit fit/1 #1']);
    expect(rig.scheduler.waitReason(0, 2)).toEqual({ kind: 'parallelism', used: 2, size: 2 });
    expect(rig.done('fit/0')).toEqual(['submit fit/2 #1']);
  });

  test("handle: the shell's own limits hold, a cluster's for example", () => {
    const limits = (step: number) => (step === 2 ? [] : [{ key: 'cluster west', size: 1 }]);
    const rig = createRig(testPlan({ a: {}, b: {}, c: {} }), { limits });
    expect(rig.start()).toEqual(['submit a #1', 'submit c #1']);
    expect(rig.scheduler.waitReason(1, 0)).toEqual({
      kind: 'limit',
      limit: 'cluster west',
      used: 1,
      size: 1,
      needed: 1,
    });
  });

  test('handle: the cells of a step can have limits of their own', () => {
    const west = [{ key: 'cluster west', size: 1 }];
    const limits = (_: number, cell: number) => (cell === 2 ? [] : west);
    const rig = createRig(testPlan({ fit: { cells: 3 } }), { limits });
    expect(rig.start()).toEqual(['submit fit/0 #1', 'submit fit/2 #1']);
    expect(rig.scheduler.waitReason(0, 1)).toMatchObject({ kind: 'limit', limit: 'cluster west', used: 1 });
    expect(rig.done('fit/2')).toEqual([]);
    expect(rig.done('fit/0')).toEqual(['submit fit/1 #1']);
  });

  test('handle: a back-off and a publication hold no room', () => {
    const outputs = { o: { path: '/o', retain: false } };
    const rig = createRig(
      testPlan({ a: { outputs }, b: { retry: { limit: 1, on: ['failed'] } }, c: {} }, { parallelism: 1 }),
    );
    rig.start();
    expect(rig.done('a')).toEqual(['publish a #1', 'submit b #1']);
    expect(rig.ended('b', 'failed')).toEqual(['submit c #1', expect.stringMatching(/^wake /)]);
  });
});

describe('order', () => {
  const one = { parallelism: 1 };

  test("handle: priority first, then the longest remaining path, then the file's order", () => {
    const rig = createRig(
      testPlan({ a: {}, b: {}, long: {}, after: { after: ['long'] }, urgent: { priority: 1 } }, one),
    );
    const order = rig.start();
    for (const name of ['urgent', 'long', 'a', 'b']) order.push(...rig.done(name));
    expect(order).toEqual(['urgent', 'long', 'a', 'b', 'after'].map((name) => `submit ${name} #1`));
  });

  test('handle: durations of earlier runs decide which path is the longest', () => {
    const durations = (step: string) => ({ a: 10, b: 500, c: 10, d: 10 })[step];
    const plan = testPlan({ a: {}, c: { after: ['a'] }, d: { after: ['c'] }, b: {} }, one);
    expect(createRig(plan, { durations }).start()).toEqual(['submit b #1']);
    expect(createRig(plan).start()).toEqual(['submit a #1']);
  });

  test('handle: the cells of a step start in their order', () => {
    const rig = createRig(testPlan({ fit: { cells: 12, parallelism: 1 } }));
    const order = rig.start();
    for (let cell = 0; cell < 11; cell++) order.push(...rig.done(`fit/${cell}`));
    expect(order).toEqual(Array.from({ length: 12 }, (_, cell) => `submit fit/${cell} #1`));
  });
});
