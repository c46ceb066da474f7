import { type Clock, createSystemClock } from '@sluice/home';
import { createRunFacts, createScheduler, type JournalRecord } from '@sluice/run';
import { expect, test } from 'vitest';
import { createHandPlan, createStep } from '../../../run/test/plans.ts';
import { createRunLoop } from '../../src/run/run-loop.ts';

test('createRunLoop writes no event that the scheduler rejects, so that a replay stops nowhere', async () => {
  const plan = createHandPlan([createStep('a')]);
  const written: JournalRecord[] = [];
  const failed = await new Promise<unknown>((resolve) => {
    const loop = createRunLoop({
      clock: createSystemClock(),
      scheduler: createScheduler(plan),
      facts: createRunFacts(plan),
      journal: {
        append: (record) => void written.push(record),
        commit: async () => {},
        write: async () => {},
        close: async () => {},
      },
      redact: (data) => data,
      onFailure: resolve,
    });
    loop.begin();
    loop.post({ type: 'started', at: 1 });
    // A run begins once only: the second is a bug of whoever posted it.
    loop.post({ type: 'started', at: 2 });
    loop.post({ type: 'cancelRequested', at: 3, by: 'a test' });
  });
  expect(String(failed)).toContain('has been started');
  expect(written).toEqual([{ kind: 'event', event: { type: 'started', at: 1 } }]);
});

/** A loop over the plan whose commands and effects take so much of the given time, which goes on only by them. */
function createSlowLoop(steps: number, { commandMs = 0, effectMs = 0 }) {
  let time = 0;
  const deferred: (() => void)[] = [];
  const clock: Clock = {
    ...{ now: () => time, wall: () => time, boot: () => undefined, setTimer: () => () => {} },
    defer: (callback) => void deferred.push(callback),
  };
  const plan = createHandPlan(Array.from({ length: steps }, (_, at) => createStep(`s${at}`)));
  const done: string[] = [];
  const loop = createRunLoop({
    ...{ clock, scheduler: createScheduler(plan), facts: createRunFacts(plan), redact: (data) => data },
    journal: { append: () => {}, commit: async () => {}, write: async () => {}, close: async () => {} },
    onFailure(error) {
      throw error;
    },
  });
  loop.attach({
    perform(command) {
      if (command.type !== 'submit') return undefined;
      time += commandMs;
      done.push(`command ${command.step}`);
      return () => {
        time += effectMs;
        done.push(`effect ${command.step}`);
      };
    },
    ...{ onHandled: () => {}, onTurn: () => {} },
  });
  loop.begin();
  loop.post({ type: 'started', at: 0 });
  /** Runs what is deferred; returns what was done meanwhile. */
  const turn = async () => {
    for (const callback of deferred.splice(0)) callback();
    await new Promise((resolve) => setImmediate(resolve));
    return done.splice(0);
  };
  return { turn };
}

const names = (what: string, from: number, to: number) =>
  Array.from({ length: to - from }, (_, at) => `${what} ${from + at}`);

test('createRunLoop performs commands for a short time, and the others in later turns of the event loop', async () => {
  const { turn } = createSlowLoop(10, { commandMs: 7 });
  expect(await turn()).toEqual([...names('command', 0, 3), ...names('effect', 0, 3)]);
  expect(await turn()).toEqual([...names('command', 3, 6), ...names('effect', 3, 6)]);
});

test('createRunLoop performs one command per turn if each takes longer than a turn', async () => {
  const { turn } = createSlowLoop(3, { commandMs: 5000 });
  expect(await turn()).toEqual(['command 0', 'effect 0']);
  expect(await turn()).toEqual(['command 1', 'effect 1']);
  expect(await turn()).toEqual(['command 2', 'effect 2']);
});

test('createRunLoop runs effects for a short time, and the others in later turns, in their order', async () => {
  const { turn } = createSlowLoop(10, { effectMs: 15 });
  expect(await turn()).toEqual([...names('command', 0, 10), ...names('effect', 0, 2)]);
  expect(await turn()).toEqual(names('effect', 2, 4));
  expect(await turn()).toEqual(names('effect', 4, 6));
});

test('createRunLoop performs many commands in one turn if they take no time', async () => {
  const { turn } = createSlowLoop(100, {});
  expect(await turn()).toHaveLength(200);
});
