import { describe, expect, test } from 'vitest';
import { replayFiles } from '../../src/facts/replay-files.ts';
import { replayRun } from '../../src/facts/replay-run.ts';
import type { JournalRecord } from '../../src/records/journal-record.ts';
import { createHandPlan, createStep } from '../plans.ts';

const header: JournalRecord = {
  kind: 'run',
  format: 2,
  runId: 'abcdefghijkl',
  pipeline: 'hand',
  at: 1,
  plannedTime: 1,
  clusterID: 'sim',
  accountID: 'me',
  baseDir: '/base',
  scheduler: { seed: 'x', parallelism: 1 },
  instanceSizes: [],
};
const started: JournalRecord = { kind: 'event', event: { type: 'started', at: 1 } };
const intent: JournalRecord = {
  ...{ kind: 'intent', at: 1, step: 0, cell: 0, attempt: 1 },
  ...{ id: 'sabc-1', clusterID: 'sim', instanceType: 'sim-1', spec: 'x' },
};
const at = { at: 2, step: 0, cell: 0 };
const ended: JournalRecord = {
  kind: 'event',
  event: { type: 'ended', ...at, attempt: 1, outcome: { result: 'succeeded' } },
};

describe('hasSucceeded, in a replay', () => {
  const plain = createHandPlan([createStep('a')]);
  const cached = createHandPlan([createStep('a', { cache: { ignore: [] } })]);
  const approval = createHandPlan([createStep('a', { approval: { message: 'really?' } })]);
  const empty = createHandPlan([createStep('a', { foreach: '${{ [] }}' })]);
  const source = { runId: 'b', step: 'a', cell: '', volumeID: 'v', fingerprint: 'f', siblings: 's', results: {} };

  test.each<[string, typeof plain, readonly JournalRecord[], string]>([
    ['a container', plain, [intent, ended], 'succeeded'],
    [
      'a reused result',
      cached,
      [{ kind: 'event', event: { type: 'cacheHit', ...at }, facts: { cached: source } }],
      'cached',
    ],
    [
      'an approval',
      approval,
      [{ kind: 'event', event: { type: 'approved', at: 2, step: 0, approved: true, by: 'me' } }],
      'succeeded',
    ],
    [
      'an empty list',
      empty,
      [{ kind: 'event', event: { type: 'decided', at: 2, step: 0, cells: 0 }, facts: { cells: [] } }],
      'succeeded',
    ],
  ])('accepts a success by %s', (_, plan, records, state) => {
    expect(replayRun(plan, [header, started, ...records])!.scheduler.state(0)).toBe(state);
  });

  test.each<JournalRecord>([
    { ...intent, attempt: 2 },
    { kind: 'cancelIntent', at: 1, step: 0, cell: 0, attempt: 2, reason: 'timeout' },
    { kind: 'log', step: 0, cell: 0, attempt: 2, tail: [] },
  ])('rejects a record ($kind) of an attempt that has not begun', (record) => {
    expect(() => replayRun(plain, [header, started, record])).toThrow('attempt 2 of cell 0 of step 0 has not begun');
  });

  test.each<[string, typeof plain, readonly JournalRecord[]]>([
    ['a container', plain, [ended]],
    ['the earlier run', cached, [{ kind: 'event', event: { type: 'cacheHit', ...at } }]],
  ])('rejects a success without %s', (_, plan, records) => {
    const replayed = replayFiles({
      ...{ runId: 'abcdefghijkl', directory: '/home/runs/abcdefghijkl', plan },
      records: [header, started, ...records],
    });
    expect(replayed).toMatchObject({ ok: false, error: { code: 'JOURNAL_DAMAGED' } });
    expect(!replayed.ok && replayed.error.message).toBe(
      'could not read the journal of run abcdefghijkl: a counts as succeeded, but has no container, reused result or approval; start a new run that reuses nothing of it',
    );
  });
});
