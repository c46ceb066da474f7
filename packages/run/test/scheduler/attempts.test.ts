import type { KeyValues } from '@sluice/core';
import { describe, expect, test } from 'vitest';
import { IllegalMove } from '../../src/scheduler/state/illegal-move.ts';
import { createRig } from './rig.ts';
import { testPlan } from './test-plan.ts';

const AT_ONCE = { initialMs: 0, factor: 1, maxMs: 0 };

describe('retries', () => {
  test('handle: infrastructure failures have a budget of their own and keep the escalationLevel', () => {
    const retry = {
      limit: 1,
      on: ['oom'],
      infrastructure: 1,
      escalate: ['big', 'huge'],
      backoff: AT_ONCE,
    } as const;
    const rig = createRig(testPlan({ a: { retry } }));
    rig.start();
    expect(rig.ended('a', 'infrastructure')).toEqual(['submit a #2']);
    expect(rig.ended('a', 'oom')).toEqual(['submit a #3 escalationLevel 0']);
    expect(rig.ended('a', 'infrastructure')).toEqual(['finish failed']);
    expect(rig.state('a')).toBe('errored');
  });

  test('handle: each cell has its own limit and backoff', () => {
    const perCell = { retry: { limit: '${{ each.y }}', backoff: { initial: '${{ each.y }}s' } } };
    const backoff = { initialMs: 0, factor: 1, maxMs: 10_000 };
    const rig = createRig(
      testPlan({ a: { each: ['y'], perCell, retry: { on: ['failed'], backoff } } }, { failFast: false }),
    );
    expect(rig.start()).toEqual(['submit a/0 #1', 'submit a/1 #1']);
    rig.submitted('a/1');
    expect(rig.ended('a/0', 'failed')).toEqual([]);
    expect(rig.state('a/0')).toBe('failed');
    const [wake] = rig.ended('a/1', 'failed');
    expect(Number(wake!.replace('wake ', ''))).toBeGreaterThanOrEqual(500);
    expect(rig.tick(1000)).toEqual(['submit a/1 #2']);
    expect(rig.ended('a/1', 'failed')).toEqual(['finish failed']);
  });

  test('handle: a cell has the values with which it was decided, and none are taken for others', () => {
    const perCell = { timeout: '${{ steps.a.results.ms }}ms', retry: { limit: '${{ steps.a.results.n }}' } };
    const rig = createRig(testPlan({ a: { each: ['y'], perCell, retry: { on: ['timeout'], backoff: AT_ONCE } } }));
    const decide = (cell: number, values?: readonly KeyValues[]) =>
      rig.send({ type: 'decided', at: rig.now, step: 0, cell, cells: 2, ...(values && { values }) });
    expect(rig.start()).toEqual(['decide a/0', 'decide a/1']);
    expect(() => decide(0)).toThrow('values of 0 cells are given, and 1 have some');
    expect(() => decide(0, [{ timeout: 5 }])).toThrow('cannot use the values of cell 0 of step 0: it has others');
    expect(() => decide(0, [{ timeout: 5, 'retry.limit': 0, priority: 1 }])).toThrow('it has others');
    expect(decide(1, [{ timeout: 50, 'retry.limit': 1 }])).toEqual(['submit a/1 #1']);
    expect(decide(0, [{ timeout: 20, 'retry.limit': 0 }])).toEqual(['submit a/0 #1']);
    expect(rig.scheduler.values(0, 1)).toMatchObject({ timeoutMs: 50, retry: { limit: 1, on: ['timeout'] } });
    rig.submitted('a/0');
    rig.submitted('a/1');
    expect(rig.running('a/0')).toEqual(['wake 20']);
    rig.running('a/1');
    expect(rig.tick(20)).toEqual(['cancel a/0 #1 timeout', 'wake 50']);
    expect(rig.tick(50)).toEqual(['cancel a/1 #1 timeout']);
    expect(rig.ended('a/1', 'canceled')).toEqual(['submit a/1 #2']);
  });

  test('handle: the timer of an attempt that has ended does not end the next one', () => {
    const rig = createRig(testPlan({ a: { timeoutMs: 100, retry: { limit: 1, on: ['failed'], backoff: AT_ONCE } } }));
    rig.start();
    expect(rig.running('a')).toEqual(['wake 100']);
    rig.now = 60;
    expect(rig.ended('a', 'failed')).toEqual(['submit a #2']);
    rig.running('a');
    expect(rig.tick(100)).toEqual(['wake 160']);
    expect(rig.tick(160)).toEqual(['cancel a #2 timeout']);
  });

  test('handle: the timeout limits the pull of the image by itself; a wait before it does not count', () => {
    const rig = createRig(testPlan({ a: { timeoutMs: 100, retry: { limit: 1, on: ['timeout'], backoff: AT_ONCE } } }));
    const pulling = (attempt: number) => ({ type: 'pulling', at: rig.now, step: 0, cell: 0, attempt }) as const;
    rig.start();
    rig.submitted('a');
    rig.now = 1000;
    expect(rig.send(pulling(1))).toEqual(['wake 1100']);
    rig.now = 1050;
    expect(rig.send(pulling(1))).toEqual([]);
    expect(rig.tick(1100)).toEqual(['cancel a #1 pullTimeout']);
    expect(rig.ended('a', 'canceled')).toEqual(['submit a #2']);
    rig.submitted('a');
    rig.send(pulling(2));
    rig.now = 1190;
    // The pull has used 90 of its 100; the command has 100 of its own.
    rig.running('a');
    rig.tick(1200);
    expect(rig.tick(1289)).toEqual(['wake 1290']);
    expect(rig.send(pulling(2))).toEqual([]);
    expect(rig.tick(1290)).toEqual(['cancel a #2 timeout']);
  });

  test('handle: a pull that is reported again after the clock was set back is limited from the earlier time', () => {
    const rig = createRig(testPlan({ a: { timeoutMs: 100 } }));
    const pulling = () => ({ type: 'pulling', at: rig.now, step: 0, cell: 0, attempt: 1 }) as const;
    rig.start();
    rig.submitted('a');
    rig.now = 5000;
    expect(rig.send(pulling())).toEqual(['wake 5100']);
    rig.now = 1000;
    expect(rig.send(pulling())).toEqual(['wake 1100']);
    expect(rig.tick(1099)).toEqual(['wake 1100']);
    expect(rig.tick(1100)).toEqual(['cancel a #1 pullTimeout']);
  });

  test('handle: an answer for an earlier attempt changes nothing and is counted', () => {
    const rig = createRig(testPlan({ a: { retry: { limit: 1, on: ['failed'], backoff: AT_ONCE } } }));
    rig.start();
    rig.ended('a', 'failed');
    const late = { at: 5, step: 0, cell: 0, attempt: 1 };
    expect(rig.send({ type: 'ended', ...late, outcome: { result: 'succeeded' } })).toEqual([]);
    expect(rig.scheduler.staleAnswers).toBe(1);
    expect(rig.state('a')).toBe('submitting');
  });

  test('handle: terminal is sticky', () => {
    const rig = createRig(testPlan({ a: {}, b: {} }));
    rig.start();
    rig.done('a');
    expect(rig.ended('a', 'failed')).toEqual([]);
    expect(rig.state('a')).toBe('succeeded');
    expect(rig.scheduler.staleAnswers).toBe(1);
  });

  test('handle: a failure to publish is tried again as a whole attempt', () => {
    const outputs = { o: { path: '/o', retain: false } };
    const rig = createRig(testPlan({ a: { outputs, retry: { infrastructure: 1, backoff: AT_ONCE } } }));
    rig.start();
    expect(rig.done('a')).toEqual(['publish a #1']);
    expect(rig.ended('a')).toEqual([]);
    expect(rig.ended('a', 'infrastructure')).toEqual(['submit a #2']);
    expect(rig.done('a')).toEqual(['publish a #2']);
    expect(rig.published('a')).toEqual(['finish succeeded']);
  });

  test('handle: a postponed submission is made again with the same attempt', () => {
    const rig = createRig(testPlan({ a: {} }));
    rig.start();
    expect(rig.postponed('a', 'throttled', 700)).toEqual(['wake 700']);
    expect(rig.scheduler.waitReason(0, 0)).toEqual({ kind: 'postponed', reason: 'throttled', until: 700 });
    expect(rig.tick(700)).toEqual(['submit a #1']);
  });

  test('handle: what a submission was put off for comes before its time, once', () => {
    const rig = createRig(testPlan({ a: {} }));
    rig.start();
    rig.postponed('a', 'pool', 700);
    const freed = { type: 'capacityFreed', at: 300, step: 0, cell: 0, attempt: 1 } as const;
    expect(rig.send(freed)).toEqual(['submit a #1']);
    expect(rig.send(freed)).toEqual([]);
    expect(rig.tick(700)).toEqual([]);
  });

  test('handle: the time of a wait that was cut short ends no later wait', () => {
    const rig = createRig(testPlan({ a: {} }));
    rig.start();
    rig.postponed('a', 'pool', 700);
    rig.send({ type: 'capacityFreed', at: 300, step: 0, cell: 0, attempt: 1 });
    rig.postponed('a', 'pool', 5000);
    expect(rig.tick(700)).toEqual(['wake 5000']);
    expect(rig.tick(5000)).toEqual(['submit a #1']);
  });

  test('handle: an event that cannot happen throws with the history of the cell', () => {
    const rig = createRig(testPlan({ a: {}, b: { after: ['a'] } }));
    rig.start();
    rig.submitted('a');
    const published = { type: 'published', at: 9, step: 0, cell: 0, attempt: 1 } as const;
    expect(() => rig.send(published)).toThrow(IllegalMove);
    expect(() => rig.send(published)).toThrow(
      /cannot move cell 0 of step "a" on published: it is pending.*ready -> submitting \(picked\)/s,
    );
    expect(() => rig.submitted('b')).toThrow(/it is waiting; it has not moved yet/);
    expect(() => rig.send({ ...published, cell: 3 })).toThrow(/the run has no such cell/);
    expect(() => rig.send({ ...published, step: 7 })).toThrow(/the run has no such cell/);
    expect(() => rig.start()).toThrow(/it has been started/);
  });

  test('history: every move of a cell, with its cause', () => {
    const rig = createRig(testPlan({ a: {} }));
    rig.start();
    rig.done('a');
    const moves = rig.scheduler.history(0, 0).map(({ from, to, cause }) => `${from} ${to} ${cause}`);
    expect(moves).toEqual([
      'waiting ready released',
      'ready submitting picked',
      'submitting pending submitted',
      'pending running running',
      'running succeeded ended',
    ]);
  });

  test('live: lists what a shell has to look at after a crash', () => {
    const rig = createRig(testPlan({ a: {}, b: { cells: 2 }, c: { after: ['a'] } }));
    rig.start();
    rig.running('b/1');
    expect(rig.scheduler.live()).toEqual([
      { step: 0, cell: 0, attempt: 1, state: 'submitting' },
      { step: 1, cell: 0, attempt: 1, state: 'submitting' },
      { step: 1, cell: 1, attempt: 1, state: 'running' },
    ]);
    expect(rig.scheduler.state(1)).toBe('running');
  });
});

describe('cache', () => {
  test('handle: a hit ends the cell, a miss makes it ready; room is taken only then', () => {
    const rig = createRig(
      testPlan({ fit: { cells: 2, cache: { ignore: [] } }, best: { after: ['fit'] } }, { parallelism: 1 }),
    );
    expect(rig.start()).toEqual(['lookUp fit/0', 'lookUp fit/1']);
    expect(rig.scheduler.waitReason(0, 0)).toEqual({ kind: 'lookUp' });
    expect(rig.cached('fit/0', true)).toEqual([]);
    expect(rig.cached('fit/1', false)).toEqual(['submit fit/1 #1']);
    expect(rig.done('fit/1')).toEqual(['submit best #1']);
    expect(rig.states()).toBe('fit succeeded, best submitting');
  });
});

describe('approval', () => {
  test('handle: a yes ends a step without a container', () => {
    const rig = createRig(testPlan({ ask: { approval: {} }, b: { after: ['ask'] } }));
    expect(rig.start()).toEqual(['askApproval ask']);
    expect(rig.scheduler.waitReason(0, 0)).toEqual({ kind: 'approval' });
    expect(rig.approved('ask', true)).toEqual(['submit b #1']);
  });

  test('handle: a yes starts the container of a step that has one', () => {
    const rig = createRig(testPlan({ ask: { approval: {}, command: ['deploy'] } }));
    rig.start();
    expect(rig.approved('ask', true)).toEqual(['submit ask #1']);
  });

  test('handle: a no fails the step', () => {
    const rig = createRig(testPlan({ ask: { approval: {} } }));
    rig.start();
    expect(rig.approved('ask', false)).toEqual(['finish failed']);
    expect(rig.state('ask')).toBe('failed');
  });

  test('handle: nobody answers in time', () => {
    const rig = createRig(testPlan({ ask: { approval: { timeoutMs: 50 } } }));
    expect(rig.start()).toEqual(['askApproval ask', 'wake 50']);
    expect(rig.tick(50)).toEqual(['finish failed']);
    expect(rig.approved('ask', true)).toEqual([]);
    expect(rig.state('ask')).toBe('timedOut');
  });
});

describe('service', () => {
  const checked = { service: { ready: { command: ['true'] } } } as const;

  test('handle: dependents start when it is ready, and it is cancelled after the last of them', () => {
    const rig = createRig(testPlan({ db: checked, a: { after: ['db'] }, b: { after: ['db'] } }));
    expect(rig.start()).toEqual(['submit db #1']);
    rig.submitted('db');
    expect(rig.running('db')).toEqual([]);
    expect(rig.ready('db')).toEqual(['submit a #1', 'submit b #1']);
    expect(rig.done('b')).toEqual([]);
    expect(rig.done('a')).toEqual(['cancel db #1 noLongerNeeded']);
    expect(rig.ended('db', 'canceled')).toEqual(['finish succeeded']);
    expect(rig.state('db')).toBe('succeeded');
  });

  test('handle: one that was not ready in time is cancelled once; a late report changes nothing', () => {
    const retry = { limit: 1, on: ['timeout' as const], backoff: AT_ONCE };
    const rig = createRig(testPlan({ db: { ...checked, retry }, a: { after: ['db'] } }));
    rig.start();
    rig.running('db');
    const late = { type: 'notReady', at: 9, step: 0, cell: 0, attempt: 1, message: 'rejected' } as const;
    expect(rig.send(late)).toEqual(['cancel db #1 notReady']);
    expect(rig.send(late)).toEqual([]);
    expect(rig.ended('db', 'canceled')).toEqual(['submit db #2']);
    rig.running('db');
    expect(rig.ready('db')).toEqual(['submit a #1']);
    expect(rig.send({ ...late, attempt: 2 })).toEqual([]);
    expect(rig.state('db')).toBe('running');
  });

  test('handle: without a readiness check, running is ready', () => {
    const rig = createRig(testPlan({ db: { service: {} }, a: { after: ['db'] } }));
    rig.start();
    expect(rig.running('db')).toEqual(['submit a #1']);
    expect(rig.ready('db')).toEqual([]);
  });

  test('handle: a service whose dependents are all skipped ends as soon as it is ready', () => {
    const rig = createRig(testPlan({ x: {}, db: checked, a: { after: ['db', 'x'] } }, { failFast: false }));
    rig.start();
    expect(rig.ended('x', 'failed')).toEqual([]);
    expect(rig.ready('db')).toEqual(['cancel db #1 noLongerNeeded']);
    rig.ended('db', 'canceled');
    expect(rig.states()).toBe('x failed, db succeeded, a skipped');
  });

  test('handle: a service that runs was not skipped, and who waited for that does not hold it', () => {
    const rig = createRig(
      testPlan({ db: { service: {} }, without: { after: ['db:skipped'] }, a: { after: ['db', 'without:completed'] } }),
    );
    expect(rig.start()).toEqual(['submit db #1']);
    expect(rig.running('db')).toEqual(['submit a #1']);
    expect(rig.state('without')).toBe('skipped');
    expect(rig.scheduler.skipCause(1, 0)).toEqual({ kind: 'dependency', step: 'db', condition: 'skipped' });
    expect(rig.done('a')).toEqual(['cancel db #1 noLongerNeeded']);
    expect(rig.ended('db', 'canceled')).toEqual(['finish succeeded']);
  });

  test('handle: a service of several cells ends when one of them can not get ready any more', () => {
    const rig = createRig(testPlan({ db: { ...checked, cells: 2 }, a: { after: ['db'] } }, { failFast: false }));
    rig.start();
    expect(rig.ready('db/0')).toEqual([]);
    expect(rig.ended('db/1', 'failed')).toEqual(['cancel db/0 #1 noLongerNeeded']);
    expect(rig.ended('db/0', 'canceled')).toEqual(['finish failed']);
    expect(rig.states()).toBe('db failed, a skipped');
  });

  const eachItem = (continueOnError: number) => {
    const steps = {
      db: { ...checked, each: ['y'], continueOnError },
      all: { after: ['db'] },
      use: { each: ['y'], after: ['db', 'all'] },
    };
    return createRig(testPlan(steps, { failFast: false }));
  };

  test('handle: what uses a service of every item waits only for items that can still get ready', () => {
    const rig = eachItem(1);
    rig.start();
    expect(rig.ready('db/0')).toEqual([]);
    expect(rig.ended('db/1', 'failed')).toEqual(['submit all #1']);
    expect(rig.done('all')).toEqual(['submit use/0 #1']);
    expect(rig.done('use/0')).toEqual(['cancel db/0 #1 noLongerNeeded']);
    expect(rig.ended('db/0', 'canceled')).toEqual(['finish succeeded']);
    expect(rig.states()).toBe('db failed, all succeeded, use skipped');
  });

  test('handle: what uses a service of every item is skipped by one that failed, and holds no other', () => {
    const rig = eachItem(0);
    rig.start();
    expect(rig.ended('db/1', 'failed')).toEqual([]);
    expect(rig.ready('db/0')).toEqual(['cancel db/0 #1 noLongerNeeded']);
    expect(rig.states()).toBe('db running, all skipped, use skipped');
    expect(rig.ended('db/0', 'canceled')).toEqual(['finish failed']);
  });

  test('handle: a service that died is not tried again when no step needs it any longer', () => {
    const retry = { infrastructure: 3 };
    const rig = createRig(testPlan({ db: { ...checked, retry }, a: { after: ['db'] } }));
    rig.start();
    rig.ready('db');
    rig.ended('db', 'infrastructure');
    expect(rig.state('db')).toBe('backingOff');
    expect(rig.done('a')).toEqual(['finish succeeded']);
    expect(rig.state('db')).toBe('skipped');
    expect(rig.scheduler.skipCause(0, 0)).toEqual({ kind: 'notNeeded' });
  });

  test('handle: a service that cannot publish when no step needs it any longer is not started again', () => {
    const outputs = { dump: { path: '/dump', retain: false } };
    const rig = createRig(
      testPlan({ db: { ...checked, outputs, retry: { infrastructure: 3 } }, a: { after: ['db'] } }),
    );
    rig.start();
    rig.ready('db');
    expect(rig.ended('db')).toEqual(['publish db #1']);
    expect(rig.done('a')).toEqual([]);
    expect(rig.ended('db', 'infrastructure')).toEqual(['finish failed']);
    expect(rig.state('db')).toBe('errored');
  });

  test('handle: a service that fails before it is ready skips its dependents', () => {
    const rig = createRig(testPlan({ db: checked, a: { after: ['db'] } }, { failFast: false }));
    rig.start();
    expect(rig.ended('db', 'failed')).toEqual(['finish failed']);
    expect(rig.state('a')).toBe('skipped');
  });

  test('stuck: says so when a ready service holds the room that its dependents need', () => {
    const rig = createRig(testPlan({ db: checked, a: { after: ['db'] } }, { parallelism: 1 }));
    rig.start();
    expect(rig.scheduler.stuck()).toBeUndefined();
    rig.ready('db');
    expect(rig.scheduler.stuck()).toEqual([
      { step: 0, cell: 0, state: 'running' },
      { step: 1, cell: 0, state: 'ready', reason: { kind: 'parallelism', used: 1, size: 1 } },
    ]);
    const stuck = { type: 'stuck', at: 1, message: 'held' } as const;
    expect(rig.send(stuck)).toEqual(['cancel db #1 noLongerNeeded']);
    const wait = { kind: 'parallelism', used: 1, size: 1 };
    expect([rig.state('a'), rig.scheduler.skipCause(1, 0)]).toEqual(['failed', { kind: 'stuck', wait }]);
    expect(rig.ended('db', 'canceled')).toEqual(['finish failed']);
    expect(rig.send(stuck)).toEqual([]);
  });

  test('stuck: leaves `finally` its room, and a timeout of the run does not hide that it is stuck', () => {
    const steps = { db: checked, a: { after: ['db'] }, tidy: { final: true } };
    const rig = createRig(testPlan(steps, { parallelism: 1, timeoutMs: 60_000 }));
    rig.start();
    rig.ready('db');
    expect(rig.scheduler.stuck()).toHaveLength(3);
    rig.send({ type: 'stuck', at: 1, message: 'held' });
    expect(rig.ended('db', 'canceled')).toEqual(['submit tidy #1']);
    expect(rig.done('tidy')).toEqual(['finish failed']);
  });
});
