import type { Plan, Step } from '@sluice/core';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { applyEvent } from '../../src/facts/apply-event.ts';
import { applyRecord } from '../../src/facts/apply-record.ts';
import { createRunFacts, type RunFacts } from '../../src/facts/run-facts.ts';
import type { EventFacts, JournalRecord } from '../../src/records/journal-record.ts';
import { timeCells } from '../../src/report/cell-times.ts';
import { findCriticalPath } from '../../src/report/critical-path.ts';
import { measureTimeSpent } from '../../src/report/time-spent.ts';
import type { SchedulerEvent } from '../../src/scheduler/model/event.ts';
import { createScheduler } from '../../src/scheduler/scheduler.ts';
import { TIME_PARTS } from '../../src/schemas/time-parts.ts';
import type { TimeSpent } from '../../src/schemas/time-spent.ts';
import { createHandPlan, createStep } from '../plans.ts';
import { createRandom } from '../random.ts';
import { arbitraryPlan } from '../scheduler/arbitrary-plan.ts';
import { listKey } from '../scheduler/listed-cells.ts';
import { simulate } from '../scheduler/simulated-shell.ts';

const NAMES = Object.keys(TIME_PARTS) as (keyof typeof TIME_PARTS)[];

/** A run to which records are given one by one. */
function createRun(plan: Plan, options: Parameters<typeof createScheduler>[1] = {}) {
  const run = { facts: createRunFacts(plan), scheduler: createScheduler(plan, options) };
  const send = (event: SchedulerEvent, facts?: EventFacts) =>
    void applyEvent(run, { kind: 'event', event, ...(facts && { facts }) });
  const note = (record: Exclude<JournalRecord, { kind: 'event' }>) => applyRecord(run.facts, record);
  return { ...run, send, note };
}

function partsOf(spent: TimeSpent | undefined): Partial<Record<keyof typeof TIME_PARTS, number>> {
  expect(spent).toBeDefined();
  expect(NAMES.reduce((sum, part) => sum + spent![`${part}Ms`], 0)).toBe(spent!.totalMs);
  return Object.fromEntries(NAMES.flatMap((part) => (spent![`${part}Ms`] > 0 ? [[part, spent![`${part}Ms`]]] : [])));
}

const at = (step: number, attempt = 1) => ({ step, cell: 0, attempt });
const intent = (time: number, place: ReturnType<typeof at>) =>
  ({ kind: 'intent', at: time, ...place, id: 'x', clusterID: 'c', instanceType: 's', spec: '' }) as const;
const opened = (time: number) => ({ kind: 'opened', at: time, epoch: 1, host: 'h', pid: 1 }) as const;
const SUCCESS = { result: 'succeeded' } as const;
const FAILURE = { result: 'failed', class: 'failed', exitCode: 1, message: 'exit code 1' } as const;
const after = (...names: string[]) => ({ needs: names.map((step) => ({ step, condition: 'succeeded' as const })) });

/** From the request of an attempt at `from`: 10 ms until it is accepted, 20 ms in the queue, 100 ms running. */
function runAttempt(
  { send, note }: ReturnType<typeof createRun>,
  from: number,
  place: ReturnType<typeof at>,
  outcome: typeof SUCCESS | typeof FAILURE = SUCCESS,
) {
  note(intent(from, place));
  send({ type: 'submitted', at: from + 10, ...place });
  send({ type: 'running', at: from + 30, ...place });
  send({ type: 'ended', at: from + 130, ...place, outcome });
}

function createChain(...steps: readonly (readonly [string, Partial<Step>?])[]) {
  return createRun(createHandPlan(steps.map(([name, more]) => createStep(name, more))));
}

describe('measureTimeSpent', () => {
  test('a step waits for capacity, for the engine, computes, and its outputs are published', () => {
    const run = createChain(['one', { outputs: { data: {} } as unknown as Step['outputs'] }]);
    run.note(opened(900));
    expect(measureTimeSpent(run, { now: 950, isExecuted: true })).toBeUndefined();
    run.send({ type: 'started', at: 1_000 });
    runAttempt(run, 1_050, at(0));
    run.send({ type: 'published', at: 1_200, ...at(0) });
    run.note({ kind: 'delivered', at: 1_260, outputs: { data: '/tmp' } });
    run.note({ kind: 'finished', at: 1_265, status: 'succeeded' });
    expect(partsOf(measureTimeSpent(run, { now: 9_000, isExecuted: false }))).toEqual({
      capacity: 50,
      queued: 30,
      computing: 100,
      transfer: 20 + 60,
      other: 5,
    });
  });

  test('an attempt that is tried again, and the pause after it', () => {
    const run = createChain(['one', { retry: { ...createStep('').retry, limit: 1 } }]);
    run.send({ type: 'started', at: 1_000 });
    runAttempt(run, 1_000, at(0), FAILURE);
    expect(partsOf(measureTimeSpent(run, { now: 1_200, isExecuted: true }))).toEqual({
      queued: 30,
      computing: 100,
      retries: 70,
    });
    run.send({ type: 'tick', at: 2_130 });
    runAttempt(run, 2_135, at(0, 2));
    expect(partsOf(measureTimeSpent(run, { now: 2_265, isExecuted: true }))).toEqual({
      retries: 1_135,
      queued: 30,
      computing: 100,
    });
  });

  test('a container that ran while nothing executed the run, and the time until it was resumed', () => {
    const run = createChain(['one'], ['two', after('one')]);
    run.send({ type: 'started', at: 1_000 });
    run.note(intent(1_000, at(0)));
    run.send({ type: 'submitted', at: 1_010, ...at(0) });
    run.send({ type: 'running', at: 1_030, ...at(0) });
    // Suspended: nothing is known of the container.
    expect(partsOf(measureTimeSpent(run, { now: 2_000, isExecuted: false }))).toEqual({ queued: 30, noExecutor: 970 });
    run.note(opened(3_000));
    run.send({ type: 'ended', at: 3_010, ...at(0), outcome: SUCCESS }, { times: { endedAt: 1_500 } });
    runAttempt(run, 3_020, at(1));
    run.note({ kind: 'finished', at: 3_150, status: 'succeeded' });
    expect(partsOf(measureTimeSpent(run, { now: 0, isExecuted: false }))).toEqual({
      queued: 60,
      computing: 470 + 100,
      noExecutor: 1_500,
      capacity: 20,
    });
  });

  test('an approval without a container, also one that is canceled', () => {
    const run = createChain(['one'], ['ask', { approval: {}, ...after('one') }], ['two', after('ask')]);
    run.send({ type: 'started', at: 1_000 });
    runAttempt(run, 1_000, at(0));
    const asked = { queued: 30, computing: 100 };
    expect(partsOf(measureTimeSpent(run, { now: 5_130, isExecuted: true }))).toEqual({ ...asked, approval: 4_000 });
    const canceled = createChain(['one'], ['ask', { approval: {}, ...after('one') }]);
    canceled.send({ type: 'started', at: 1_000 });
    runAttempt(canceled, 1_000, at(0));
    canceled.send({ type: 'cancelRequested', at: 1_630, by: 'ann' });
    canceled.note({ kind: 'finished', at: 1_635, status: 'canceled' });
    expect(partsOf(measureTimeSpent(canceled, { now: 0, isExecuted: false }))).toEqual({
      ...asked,
      approval: 500,
      other: 5,
    });
    run.send({ type: 'approved', at: 6_130, step: 1, approved: true, by: 'ann' });
    runAttempt(run, 6_130, at(2));
    run.note({ kind: 'finished', at: 6_260, status: 'succeeded' });
    expect(partsOf(measureTimeSpent(run, { now: 0, isExecuted: false }))).toEqual({
      queued: 60,
      computing: 200,
      approval: 5_000,
    });
    const times = timeCells(run, [0, 1, 2]);
    expect(findCriticalPath(run.facts, times).map(({ step }) => step)).toEqual(['one', 'ask', 'two']);
  });

  test('the start of a service counts, and not how long others use it', () => {
    const service: Partial<Step> = {
      service: { ready: { command: ['true'] } } as unknown as NonNullable<Step['service']>,
    };
    const run = createChain(['db', service], ['use', after('db')]);
    run.send({ type: 'started', at: 1_000 });
    run.note(intent(1_000, at(0)));
    run.send({ type: 'submitted', at: 1_010, ...at(0) });
    run.send({ type: 'running', at: 1_040, ...at(0) });
    run.send({ type: 'serviceReady', at: 1_060, ...at(0) });
    runAttempt(run, 1_060, at(1));
    run.send({ type: 'ended', at: 1_250, ...at(0), outcome: { result: 'canceled' } });
    run.note({ kind: 'finished', at: 1_250, status: 'succeeded' });
    expect(partsOf(measureTimeSpent(run, { now: 0, isExecuted: false }))).toEqual({
      queued: 40 + 30,
      computing: 20 + 100,
      other: 60,
    });
  });

  test('a copy between clusters that a request waited for, and a request that is postponed', () => {
    const run = createChain(['one']);
    run.send({ type: 'started', at: 1_000 });
    run.note(intent(1_000, at(0)));
    run.note({ kind: 'transferred', at: 1_400, from: 'a', to: 'c', path: 'p', files: 1, bytes: 1 });
    run.note({ kind: 'transferred', at: 1_500, from: 'a', to: 'other', path: 'p', files: 1, bytes: 1 });
    run.send({ type: 'submitted', at: 1_410, ...at(0) });
    run.send({ type: 'running', at: 1_430, ...at(0) });
    expect(partsOf(measureTimeSpent(run, { now: 1_530, isExecuted: true }))).toEqual({
      transfer: 400,
      queued: 30,
      computing: 100,
    });
    const limited = createChain(['one']);
    limited.send({ type: 'started', at: 1_000 });
    limited.note(intent(1_000, at(0)));
    limited.send({ type: 'postponed', at: 1_010, ...at(0), reason: 'volume', until: 1_500 });
    expect(partsOf(measureTimeSpent(limited, { now: 1_100, isExecuted: true }))).toEqual({ capacity: 100 });
    limited.send({ type: 'tick', at: 1_500 });
    runAttempt(limited, 1_500, at(0));
    limited.note({ kind: 'finished', at: 1_630, status: 'succeeded' });
    expect(partsOf(measureTimeSpent(limited, { now: 0, isExecuted: false }))).toEqual({
      capacity: 500,
      queued: 30,
      computing: 100,
    });
  });
});

/** What the shell records with an event of a simulated run. */
function recordedWith(plan: Plan, event: SchedulerEvent): EventFacts {
  if (event.type === 'decided' && plan.steps[event.step]!.cells === undefined)
    return { cells: Array.from({ length: event.cells }, (_, index) => ({ key: `c-${index}`, matrix: {} })) };
  if (event.type !== 'published' && event.type !== 'cacheHit') return {};
  const count = event.lists?.l;
  if (count === undefined) return {};
  return { lists: { l: Array.from({ length: count }, (_, item) => ({ key: listKey(item), item })) } };
}

/** The clock of a simulated run can be set back before its epoch. */
function moveLater(event: SchedulerEvent): SchedulerEvent {
  const later = { ...event, at: event.at + 100_000 };
  if (later.type === 'postponed') return { ...later, until: later.until + 100_000 };
  return later.type === 'running' && later.since !== undefined ? { ...later, since: later.since + 100_000 } : later;
}

function checkLaws(run: { readonly facts: RunFacts } & Parameters<typeof measureTimeSpent>[0], now: number): void {
  const { facts } = run;
  for (const isExecuted of [true, false]) {
    const spent = measureTimeSpent(run, { now, isExecuted })!;
    const until = facts.finished?.at ?? now;
    expect(spent.totalMs).toBe(Math.max(0, until - facts.startedAt));
    partsOf(spent);
    const paused = facts.pauses.reduce((sum, { from, to }) => sum + to - from, 0);
    const unknown = facts.finished || isExecuted ? 0 : Math.max(0, until - facts.recordedAt);
    expect(spent.noExecutorMs).toBeLessThanOrEqual(paused + unknown);
    const attempts = facts.known.flatMap((cells) => cells.flatMap((cell) => cell.attempts));
    const ran = attempts.reduce((sum, { runningAt, submittedAt, endedAt = until }) => {
      const from = runningAt ?? submittedAt;
      return from === undefined ? sum : sum + Math.max(0, endedAt - from);
    }, 0);
    expect(spent.computingMs).toBeLessThanOrEqual(ran);
    const isRetry = attempts.some(({ outcome, attempt }) => attempt > 1 || (outcome && outcome.result !== 'succeeded'));
    if (!isRetry) expect(spent.retriesMs).toBe(0);
    if (!facts.plan.steps.some(({ step }) => step.approval)) expect(spent.approvalMs).toBe(0);
  }
}

test('measureTimeSpent: the parts of every run add up to its time, at any moment, however it continues and ends', () => {
  const seed = fc.integer({ min: 0, max: 2 ** 31 - 1 }).map(String);
  fc.assert(
    fc.property(arbitraryPlan, seed, fc.constantFrom(0, 0.3), (plan, seed, failures) => {
      const random = createRandom(seed);
      const looksUpAll = random.chance(0.5);
      const { events } = simulate(plan, { seed, failures, cancels: 0.01, looksUpAll });
      const run = createRun(plan, { seed, looksUpAll });
      let now = 0;
      for (const event of events.map(moveLater)) {
        now = Math.max(now, event.at);
        if (random.chance(0.1)) run.note(opened(now + random.below(3_000)));
        run.send(event, recordedWith(plan, event));
        if ('attempt' in event && event.type === 'submitted' && random.chance(0.5))
          run.note(intent(event.at - random.below(50), event));
        if (random.chance(0.3)) checkLaws(run, now + random.below(500));
      }
      if (random.chance(0.5)) run.note({ kind: 'delivered', at: now + 5, outputs: { all: '/tmp' } });
      run.note({ kind: 'finished', at: now + random.below(100), status: 'failed' });
      checkLaws(run, 0);
    }),
    { numRuns: 200 },
  );
});
