import { expect, test } from 'vitest';
import type { JournalRecord } from '../../src/journal/journal-record.ts';
import { encodeLine } from '../../src/journal/line-codec.ts';
import { parseJournal } from '../../src/journal/parse-journal.ts';
import { renameRecord } from '../../src/journal/renamed-records.ts';
import { replayRun } from '../../src/record/replay-run.ts';
import { testPlan } from '../scheduler/test-plan.ts';

/** The events of a journal as the version before the renames wrote them. */
const EVENTS = [
  { type: 'started', at: 1 },
  { type: 'undecidable', at: 2, step: 0, message: 'no such key' },
  { type: 'postponed', at: 3, step: 1, cell: 0, attempt: 1, reason: 'pool', until: 60_000 },
  { type: 'roomFreed', at: 4, step: 1, cell: 0, attempt: 1 },
  { type: 'submitted', at: 5, step: 1, cell: 0, attempt: 1 },
];
const START = {
  kind: 'run',
  format: 1,
  runId: 'r1',
  pipeline: 'test',
  at: 1,
  clusterID: 'here',
  accountID: 'me',
  baseDir: '/work',
  scheduler: { maxInFlight: 10, seed: 1 },
};

function readOld(events: readonly object[]) {
  const records = [START, ...events.map((event) => ({ kind: 'event', event }))] as JournalRecord[];
  const text = records.map((record, index) => encodeLine({ seq: index + 1, first: index + 1, epoch: 1, record }));
  const read = parseJournal(Buffer.from(text.join('')));
  if (!read.ok) throw new Error(read.error);
  return read.value.records;
}

test('renameRecord: a journal of an earlier version is replayed, with `undecidable` and `roomFreed`', () => {
  const plan = testPlan({ choose: { when: '${{ results.none }}' }, fit: {} }, { failFast: false });
  const records = readOld(EVENTS);
  expect(records[0]).toMatchObject({ kind: 'run', scheduler: { parallelism: 10 } });
  expect(records[0]).not.toHaveProperty('scheduler.maxInFlight');
  const types = records.flatMap((record) => (record.kind === 'event' ? [record.event.type] : []));
  expect(types).toEqual(['started', 'evaluationFailed', 'postponed', 'capacityFreed', 'submitted']);
  const { facts, scheduler } = replayRun(plan, records)!;
  expect(facts.evaluationErrors.get(0)).toBe('no such key');
  expect(scheduler.state(0)).toBe('failed');
  expect(scheduler.state(1)).toBe('pending');
});

test('renameRecord: leaves the names of other events alone, also those that objects inherit', () => {
  const records = readOld([
    { type: 'started', at: 1 },
    { type: 'constructor', at: 2 },
  ]);
  expect(records.slice(1)).toEqual([
    { kind: 'event', event: { type: 'started', at: 1 } },
    { kind: 'event', event: { type: 'constructor', at: 2 } },
  ]);
});

test('renameRecord: the steps that are rerun have their present name', () => {
  const reuse = { runId: 'r0', again: ['fit'] };
  expect(renameRecord({ ...START, reuse } as unknown as JournalRecord)).toMatchObject({
    scheduler: { parallelism: 10 },
    reuse: { runId: 'r0', force: ['fit'] },
  });
  const present = { ...START, scheduler: { parallelism: 10, seed: '1' }, reuse: { runId: 'r0', force: [] } };
  expect(renameRecord(present as unknown as JournalRecord)).toEqual(present);
});
