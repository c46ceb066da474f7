import type { JournalRecord } from '@sluice/run';
import { expect, test } from 'vitest';
import { createMemoryDisk } from '../../../home/test/memory-disk.ts';
import { createHandPlan, createStep } from '../../../run/test/plans.ts';
import { createTimeChecker } from './check-times.ts';
import { createEvidenceReader } from './journal-evidence.ts';
import { createProcess } from './simulated-process.ts';
import { createVirtualClock } from './virtual-clock.ts';

const HOUR = 3_600_000;

/** What the time law says of a run whose journal is seen only some time after it was opened. */
async function checkLate(recordAheadMs: number): Promise<string[]> {
  const clock = createVirtualClock();
  clock.jump(2 * HOUR);
  const run = createProcess({ clock, disk: createMemoryDisk(), service: undefined as never }).clock;
  const opened: JournalRecord = { kind: 'opened', at: run.now(), epoch: 1, host: 'h', pid: 1, boot: run.boot()! };
  const wait = clock.delay(22_879);
  let isFinished = false;
  void wait.then(() => {
    isFinished = true;
  });
  await clock.runUntil(() => isFinished);
  const violations: string[] = [];
  const plan = createHandPlan([createStep('a')]);
  const checker = createTimeChecker({ plan, clock }, (holds, message) => void (holds || violations.push(message())));
  const evidence = createEvidenceReader(createMemoryDisk(), '/journal.ndjson')();
  const tick: JournalRecord = { kind: 'event', event: { type: 'tick', at: run.now() + recordAheadMs } };
  checker.onEvidence({ ...evidence, records: [opened, tick] });
  return violations;
}

test('a journal that is seen long after it was opened is not ahead of the time that has passed', async () => {
  expect(await checkLate(0)).toEqual([]);
});

test('one millisecond ahead of the time that has passed is too much', async () => {
  expect(await checkLate(1)).toEqual(['record 2 is 1 ms ahead of the time that has passed']);
});
