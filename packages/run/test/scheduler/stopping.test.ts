import { describe, expect, test } from 'vitest';
import { createRig } from './rig.ts';
import { testPlan } from './test-plan.ts';

describe('failFast', () => {
  test('handle: after a failure nothing new starts and what runs may end', () => {
    const rig = createRig(testPlan({ a: {}, b: {}, c: {}, d: { after: ['b'] } }, { parallelism: 2 }));
    expect(rig.start()).toEqual(['submit b #1', 'submit a #1']);
    expect(rig.ended('a', 'failed')).toEqual([]);
    expect(rig.done('b')).toEqual(['finish failed']);
    expect(rig.states()).toBe('a failed, b succeeded, c skipped, d skipped');
    expect(rig.scheduler.skipCause(2, 0)).toEqual({ kind: 'failFast', step: 'a' });
    expect(rig.scheduler.skipCause(3, 0)).toEqual({ kind: 'failFast', step: 'a' });
  });

  test('handle: a step that asks for the failure still starts', () => {
    const rig = createRig(testPlan({ a: {}, tell: { after: ['a:failed'] }, after: { after: ['tell'] } }));
    rig.start();
    expect(rig.ended('a', 'failed')).toEqual(['submit tell #1']);
    expect(rig.done('tell')).toEqual(['finish failed']);
    expect(rig.state('after')).toBe('skipped');
  });

  test('handle: without failFast every branch that does not depend on the failure goes on', () => {
    const rig = createRig(testPlan({ a: {}, b: {}, c: { after: ['b'] } }, { failFast: false }));
    rig.start();
    rig.ended('a', 'failed');
    expect(rig.done('b')).toEqual(['submit c #1']);
    expect(rig.done('c')).toEqual(['finish failed']);
  });

  test('handle: a cell that waits for its retry ends with its own failure', () => {
    const rig = createRig(testPlan({ a: { retry: { limit: 1, on: ['failed'] } }, b: {} }));
    rig.start();
    rig.ended('a', 'failed');
    expect(rig.state('a')).toBe('backingOff');
    expect(rig.ended('b', 'failed')).toEqual(['finish failed']);
    expect(rig.state('a')).toBe('failed');
  });

  test('handle: the other cells of a failed matrix are not started', () => {
    const rig = createRig(testPlan({ fit: { cells: 3, parallelism: 1 } }));
    rig.start();
    expect(rig.ended('fit/0', 'failed')).toEqual(['finish failed']);
    expect(rig.state('fit/1')).toBe('skipped');
    expect(rig.scheduler.state(0)).toBe('failed');
  });

  test('handle: a cancellation that nobody asked for is a failure', () => {
    const rig = createRig(testPlan({ a: {}, b: { after: ['a'] } }));
    rig.start();
    expect(rig.ended('a', 'canceled')).toEqual(['finish failed']);
    expect(rig.states()).toBe('a canceled, b skipped');
  });
});

describe('cancelRequested', () => {
  test('handle: what lives is cancelled, the rest never starts, and finally runs', () => {
    const rig = createRig(testPlan({ a: {}, b: {}, c: { after: ['a'] }, f: { final: true } }, { parallelism: 1 }));
    expect(rig.start()).toEqual(['submit a #1']);
    expect(rig.cancel()).toEqual(['cancel a #1 canceled']);
    expect(rig.ended('a', 'canceled')).toEqual(['submit f #1']);
    expect(rig.scheduler.status).toBe('canceled');
    expect(rig.done('f')).toEqual(['finish canceled']);
    expect(rig.states()).toBe('a canceled, b canceled, c canceled, f succeeded');
  });

  test('handle: a second request cancels finally too', () => {
    const rig = createRig(testPlan({ a: {}, f: { final: true }, g: { final: true, after: ['f'] } }));
    rig.start();
    rig.cancel();
    rig.ended('a', 'canceled');
    expect(rig.cancel()).toEqual(['cancel f #1 canceled']);
    expect(rig.ended('f', { result: 'failed', class: 'failed', exitCode: 143, message: 'killed' })).toEqual([
      'finish canceled',
    ]);
    expect(rig.states()).toBe('a canceled, f canceled, g canceled');
  });

  test('handle: a container that succeeds before the cancellation reaches it has succeeded', () => {
    const rig = createRig(testPlan({ a: { outputs: { o: { path: '/o', retain: false } } } }));
    rig.start();
    rig.cancel();
    expect(rig.ended('a')).toEqual(['publish a #1']);
    expect(rig.published('a')).toEqual(['finish canceled']);
    expect(rig.state('a')).toBe('succeeded');
  });

  test('handle: a submission that was put off is not made again', () => {
    const rig = createRig(testPlan({ a: {} }));
    rig.start();
    expect(rig.cancel()).toEqual(['cancel a #1 canceled']);
    expect(rig.postponed('a', 'quota', 500)).toEqual(['finish canceled']);
  });
});

describe('timeouts', () => {
  test('handle: an attempt that runs too long is cancelled, and has timed out', () => {
    const rig = createRig(testPlan({ a: { timeoutMs: 100 } }));
    rig.start();
    rig.submitted('a');
    expect(rig.running('a')).toEqual(['wake 100']);
    expect(rig.tick(99)).toEqual(['wake 100']);
    expect(rig.tick(100)).toEqual(['cancel a #1 timeout']);
    expect(rig.ended('a', { result: 'failed', class: 'failed', exitCode: 143, message: 'killed' })).toEqual([
      'finish failed',
    ]);
    expect(rig.state('a')).toBe('timedOut');
  });

  test('handle: a timeout is tried again where retry says so', () => {
    const rig = createRig(testPlan({ a: { timeoutMs: 100, retry: { limit: 1, on: ['timeout'] } } }), { seed: 'x' });
    rig.start();
    rig.running('a');
    rig.tick(100);
    const [wake = ''] = rig.ended('a', 'canceled');
    const at = Number(wake.split(' ')[1]);
    expect(at).toBeGreaterThanOrEqual(600);
    expect(at).toBeLessThanOrEqual(1100);
    expect(rig.scheduler.waitReason(0, 0)).toEqual({ kind: 'backoff', until: at, attempt: 2 });
    expect(rig.tick(at)).toEqual(['submit a #2']);
  });

  test('handle: the queue timeout counts from the submission until it runs', () => {
    const rig = createRig(testPlan({ a: { queueTimeoutMs: 100 } }));
    rig.start();
    expect(rig.submitted('a')).toEqual(['wake 100']);
    expect(rig.tick(100)).toEqual(['cancel a #1 queueTimeout']);
    rig.ended('a', 'canceled');
    expect(rig.state('a')).toBe('timedOut');
  });

  test('handle: a queue timeout means nothing once it runs', () => {
    const rig = createRig(testPlan({ a: { queueTimeoutMs: 100 } }));
    rig.start();
    rig.submitted('a');
    rig.running('a');
    expect(rig.tick(100)).toEqual([]);
  });

  test('handle: the deadline holds over all attempts, also during a back-off', () => {
    const rig = createRig(testPlan({ a: { deadlineMs: 100, retry: { limit: 9, on: ['failed'] } } }));
    expect(rig.start()).toEqual(['submit a #1', 'wake 100']);
    expect(rig.ended('a', 'failed')).toEqual([]);
    expect(rig.tick(100)).toEqual(['finish failed']);
    expect(rig.state('a')).toBe('timedOut');
    expect(rig.scheduler.skipCause(0, 0)).toEqual({ kind: 'deadline' });
  });

  test('handle: a deadline that passes while a timeout is being enforced still ends the cell', () => {
    const retry = { limit: 9, on: ['timeout'] } as const;
    const rig = createRig(testPlan({ a: { timeoutMs: 70, deadlineMs: 100, retry } }));
    rig.start();
    rig.running('a');
    expect(rig.tick(70)).toEqual(['cancel a #1 timeout', 'wake 100']);
    expect(rig.tick(100)).toEqual([]);
    rig.now = 500;
    expect(rig.ended('a', 'canceled')).toEqual(['finish failed']);
    expect(rig.state('a')).toBe('timedOut');
  });

  test('handle: an attempt whose publishing fails after the deadline is the last one', () => {
    const retry = { limit: 9, on: ['infrastructure'] } as const;
    const outputs = { out: { path: '/out', retain: false } };
    const rig = createRig(testPlan({ a: { deadlineMs: 100, retry, outputs } }));
    rig.start();
    rig.running('a');
    expect(rig.ended('a')).toEqual(['publish a #1']);
    expect(rig.tick(100)).toEqual([]);
    expect(rig.ended('a', 'infrastructure')).toEqual(['finish failed']);
    expect(rig.state('a')).toBe('errored');
  });

  test('handle: a deadline that passes while the retry waits for room ends the cell', () => {
    const retry = { limit: 1, on: ['failed'], backoff: { initialMs: 0, factor: 1, maxMs: 0 } } as const;
    const rig = createRig(
      testPlan({ a: { deadlineMs: 100, retry }, b: { priority: 1, after: ['a:running'] } }, { parallelism: 1 }),
    );
    rig.start();
    rig.running('a');
    expect(rig.ended('a', 'failed')).toEqual(['submit b #1']);
    expect(rig.scheduler.waitReason(0, 0)).toEqual({ kind: 'parallelism', used: 1, size: 1 });
    rig.tick(100);
    expect(rig.state('a')).toBe('timedOut');
    expect(rig.done('b')).toEqual(['finish failed']);
  });

  test('handle: the timeout of the run ends it, finally runs without it', () => {
    const rig = createRig(testPlan({ a: {}, b: { after: ['a'] }, f: { final: true } }, { timeoutMs: 100 }));
    expect(rig.start()).toEqual(['submit a #1', 'wake 100']);
    expect(rig.tick(100)).toEqual(['cancel a #1 runTimeout']);
    expect(rig.ended('a', 'canceled')).toEqual(['submit f #1']);
    expect(rig.done('f')).toEqual(['finish failed']);
    expect(rig.states()).toBe('a timedOut, b canceled, f succeeded');
    expect(rig.scheduler.skipCause(1, 0)).toEqual({ kind: 'runTimeout' });
  });
});
