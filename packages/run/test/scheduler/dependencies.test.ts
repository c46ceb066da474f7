import { describe, expect, test } from 'vitest';
import { createRig } from './rig.ts';
import { testPlan } from './test-plan.ts';

describe('dependencies', () => {
  test('handle: a step starts when its last dependency is over', () => {
    const rig = createRig(testPlan({ a: {}, b: {}, c: { after: ['a', 'b'] } }));
    expect(rig.start()).toEqual(['submit a #1', 'submit b #1']);
    expect(rig.done('b')).toEqual([]);
    expect(rig.scheduler.waitReason(2, 0)).toEqual({ kind: 'dependency', steps: ['a'] });
    expect(rig.done('a')).toEqual(['submit c #1']);
    expect(rig.done('c')).toEqual(['finish succeeded']);
  });

  test('handle: a cell waits for all items of a list that `where` names, and for no others', () => {
    const inputs = { in: { from: { step: 'work', output: 'out' }, path: '/in/in', where: { l: ['k2', 'k0', 'k2'] } } };
    const rig = createRig(
      testPlan({
        split: { each: ['y'], results: { l: { type: 'array', file: 'l' } } },
        work: { each: ['l'], after: ['split'] },
        join: { each: ['y'], after: ['work?in'], inputs },
      }),
    );
    rig.start();
    rig.done('split/0');
    // Behind the cells of the plan, which stand for the first items: those of `k1` and `k2`.
    expect(rig.listed('split/0', 3)).toEqual(['submit work/0 #1', 'submit work/2 #1', 'submit work/3 #1']);
    expect(rig.done('work/3')).toEqual([]);
    expect(rig.done('work/0')).toEqual(['submit join/0 #1']);
    rig.done('split/1');
    expect(rig.listed('split/1', 2)).toContain('decide join/1');
  });

  test('handle: an empty plan is over at once', () => {
    expect(createRig(testPlan({})).start()).toEqual(['finish succeeded']);
  });

  test('handle: the dependent of a matrix waits for all of its cells', () => {
    const rig = createRig(testPlan({ fit: { cells: 2 }, best: { after: ['fit'] } }));
    expect(rig.start()).toEqual(['submit fit/0 #1', 'submit fit/1 #1']);
    expect(rig.done('fit/1')).toEqual([]);
    expect(rig.state('best')).toBe('waiting');
    expect(rig.done('fit/0')).toEqual(['submit best #1']);
  });

  test('handle: a failure skips what depends on it, and the root is the stored cause', () => {
    const rig = createRig(testPlan({ a: {}, b: { after: ['a'] }, c: { after: ['b'] } }, { failFast: false }));
    rig.start();
    expect(rig.ended('a', 'failed')).toEqual(['finish failed']);
    expect(rig.states()).toBe('a failed, b skipped, c skipped');
    expect(rig.scheduler.skipCause(2, 0)).toEqual({ kind: 'dependency', step: 'a', condition: 'succeeded' });
    expect(rig.scheduler.skipCause(0, 0)).toBeUndefined();
  });

  test('handle: what waits for a failure that does not come is skipped, and so is what follows, for the same cause', () => {
    const rig = createRig(testPlan({ a: {}, mend: { after: ['a:failed'] }, tell: { after: ['a', 'mend'] } }));
    rig.start();
    expect(rig.done('a')).toEqual(['finish succeeded']);
    expect(rig.states()).toBe('a succeeded, mend skipped, tell skipped');
    for (const step of [1, 2]) {
      expect(rig.scheduler.skipCause(step, 0)).toEqual({ kind: 'dependency', step: 'a', condition: 'failed' });
    }
  });

  test('handle: continueOnError records the failure, the run succeeds, and what needs a success is skipped', () => {
    const rig = createRig(
      testPlan({ a: { continueOnError: true }, b: { after: ['a'] }, c: { after: ['a:completed'] } }),
    );
    rig.start();
    expect(rig.ended('a', 'failed')).toEqual(['submit c #1']);
    expect(rig.done('c')).toEqual(['finish succeeded']);
    expect(rig.states()).toBe('a failed, b skipped, c succeeded');
    expect(rig.scheduler.skipCause(1, 0)).toEqual({ kind: 'dependency', step: 'a', condition: 'succeeded' });
  });

  test('handle: continueOnError of a step with cells lets what reads all of them run after one success', () => {
    const rig = createRig(testPlan({ a: { cells: 2, continueOnError: true }, b: { after: ['a!'] } }));
    rig.start();
    rig.ended('a/0', 'failed');
    expect(rig.done('a/1')).toEqual(['submit b #1']);
  });

  test('handle: a step skipped by its own when skips its dependents, and is their cause', () => {
    const rig = createRig(testPlan({ a: { when: 'x' }, b: { after: ['a'] } }));
    expect(rig.start()).toEqual(['decide a']);
    expect(rig.scheduler.waitReason(0, 0)).toEqual({ kind: 'decision' });
    expect(rig.skipped('a')).toEqual(['finish succeeded']);
    expect(rig.scheduler.skipCause(0, 0)).toEqual({ kind: 'when' });
    expect(rig.scheduler.skipCause(1, 0)).toEqual({ kind: 'dependency', step: 'a', condition: 'succeeded' });
  });

  test.each([
    ['succeeded', 'succeeded', true],
    ['failed', 'succeeded', false],
    ['completed', 'succeeded', true],
    ['skipped', 'succeeded', false],
    ['succeeded', 'failed', false],
    ['failed', 'failed', true],
    ['completed', 'failed', true],
    ['skipped', 'failed', false],
    ['failed', 'canceled', false],
    ['completed', 'canceled', true],
  ] as const)('handle: a need for %s of a step that has %s starts: %s', (condition, result, starts) => {
    const rig = createRig(testPlan({ a: {}, b: { after: [`a:${condition}`] } }, { failFast: false }));
    rig.start();
    expect(rig.ended('a', result).includes('submit b #1')).toBe(starts);
  });

  test('handle: a need for running starts as soon as every cell has run', () => {
    const rig = createRig(testPlan({ a: { cells: 2 }, b: { after: ['a:running'] } }));
    rig.start();
    rig.submitted('a/0');
    expect(rig.running('a/0')).toEqual([]);
    expect(rig.running('a/1')).toEqual(['submit b #1']);
    expect(rig.running('a/1')).toEqual([]);
  });

  test('handle: a need for running of a step that failed before it ran skips', () => {
    const rig = createRig(testPlan({ a: {}, b: { after: ['a:running'] } }, { failFast: false }));
    rig.start();
    expect(rig.ended('a', 'failed')).toEqual(['finish failed']);
    expect(rig.state('b')).toBe('skipped');
  });
});

describe('foreach', () => {
  test('handle: the cells are known when they are decided', () => {
    const rig = createRig(
      testPlan({ list: {}, each: { after: ['list'], cells: 'foreach' }, all: { after: ['each'] } }),
    );
    rig.start();
    expect(rig.scheduler.cellCount(1)).toBeUndefined();
    expect(rig.done('list')).toEqual(['decide each']);
    expect(rig.decided('each', 3)).toEqual(['submit each/0 #1', 'submit each/1 #1', 'submit each/2 #1']);
    expect(rig.scheduler.cellCount(1)).toBe(3);
    rig.done('each/0');
    rig.done('each/2');
    expect(rig.done('each/1')).toEqual(['submit all #1']);
  });

  test('handle: a directory beyond its tolerance skips its reader, and names its failed cells', () => {
    const rig = createRig(
      testPlan({
        work: { each: ['z'], continueOnError: '25%' },
        join: { each: ['g'], after: ['work'] },
        all: { after: ['work'] },
      }),
    );
    rig.start();
    rig.ended('work/0', 'failed');
    for (const cell of [1, 2, 3]) rig.done(`work/${cell}`);
    // One of four cells is tolerated, but not one of the three of `g0`.
    expect(rig.state('join')).toBe('skipped');
    expect(rig.scheduler.skipCause(1, 0)).toEqual({
      kind: 'dependency',
      step: 'work',
      cell: 0,
      condition: 'succeeded',
    });
    expect(rig.done('all')).toEqual(['finish succeeded']);
  });

  test('handle: no further cells of a step start beyond its tolerance, also without failFast', () => {
    const plan = { fit: { cells: 4, parallelism: 1, continueOnError: 1 }, other: {}, best: { after: ['fit'] } };
    const rig = createRig(testPlan(plan, { failFast: false }));
    rig.start();
    expect(rig.ended('fit/0', 'failed')).toEqual(['submit fit/1 #1']);
    expect(rig.ended('fit/1', 'failed')).toEqual([]);
    expect(rig.scheduler.skipCause(0, 3)).toEqual({ kind: 'tolerance', failed: 2, tolerated: 1 });
    expect(rig.scheduler.skipCause(2, 0)).toMatchObject({ kind: 'dependency', step: 'fit', failedCells: [0, 1] });
    expect(rig.done('other')).toEqual(['finish failed']);
  });

  test('handle: no items is a success without cells', () => {
    const rig = createRig(testPlan({ each: { cells: 'foreach' }, all: { after: ['each'] } }));
    rig.start();
    expect(rig.decided('each', 0)).toEqual(['submit all #1']);
    expect(rig.scheduler.cellCount(0)).toBe(0);
    expect(rig.scheduler.state(0)).toBe('succeeded');
  });

  test('handle: an expression that cannot be evaluated fails the step', () => {
    const rig = createRig(testPlan({ each: { cells: 'foreach' } }));
    rig.start();
    const commands = rig.send({ type: 'evaluationFailed', at: 1, step: 0, message: 'no such key' });
    expect(commands).toEqual(['finish failed']);
    expect(rig.states()).toBe('each failed');
  });

  test('handle: ten thousand cells of one step are decided and started in one event', () => {
    const rig = createRig(testPlan({ each: { cells: 'foreach', parallelism: 7 } }));
    rig.start();
    expect(rig.decided('each', 10_000)).toHaveLength(7);
    expect(rig.scheduler.counts().ready).toBe(9_993);
  });
});

describe('finally', () => {
  test('handle: its steps start when all others have ended, whatever their results', () => {
    const rig = createRig(
      testPlan({
        a: {},
        b: { after: ['a'] },
        clean: { final: true, after: ['b'] },
        tell: { final: true, after: ['clean'] },
      }),
    );
    rig.start();
    expect(rig.scheduler.waitReason(2, 0)).toEqual({ kind: 'finally', open: 2 });
    expect(rig.scheduler.status).toBe('running');
    expect(rig.ended('a', 'failed')).toEqual(['submit clean #1']);
    expect(rig.scheduler.status).toBe('failed');
    expect(rig.done('clean')).toEqual(['submit tell #1']);
    expect(rig.done('tell')).toEqual(['finish failed']);
  });

  test('handle: a step of finally that mounts what was never made is skipped', () => {
    const rig = createRig(testPlan({ a: {}, keep: { final: true, after: ['a!'] } }));
    rig.start();
    expect(rig.ended('a', 'failed')).toEqual(['finish failed']);
    expect(rig.state('keep')).toBe('skipped');
  });

  test('handle: a failure in finally fails the run and stops no other step of it', () => {
    const rig = createRig(testPlan({ x: { final: true }, y: { final: true } }, { parallelism: 1 }));
    expect(rig.start()).toEqual(['submit x #1']);
    expect(rig.ended('x', 'failed')).toEqual(['submit y #1']);
    expect(rig.scheduler.status).toBe('succeeded');
    expect(rig.done('y')).toEqual(['finish failed']);
  });
});
