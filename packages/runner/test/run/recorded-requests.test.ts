import type { Disk } from '@sluice/home';
import { expect, test } from 'vitest';
import { createHandPlan, createStep } from '../../../run/test/plans.ts';
import { approveRun } from '../../src/run/approve-run.ts';
import { requestCancel } from '../../src/run/cancel-run.ts';
import { startRun } from '../../src/run/start-run.ts';
import { createRig, type Rig } from '../simulation/rig.ts';

const PLAN = createHandPlan([createStep('ask', { approval: { message: 'shall it go on?' } })]);
const SYNC_MS = 500;

/** The disk of the rig, on which each sync takes a while. */
function createSlowDisk({ disk, clock }: Rig): Disk {
  const append: Disk['append'] = async (path, size) => {
    const file = await disk.append(path, size);
    return {
      ...file,
      async sync() {
        await clock.delay(SYNC_MS);
        await file.sync();
      },
    };
  };
  return Object.create(disk, { append: { value: append } }) as Disk;
}

async function startAsking(rig: Rig, disk: Disk) {
  const started = await rig.go(startRun({ ...rig.options, disk, plan: PLAN, baseDir: '/base' }));
  if (!started.ok) throw new Error(started.error.message);
  await rig.until(() => rig.events.some(({ type }) => type === 'approvalAsked'));
  return started.value;
}

interface Request {
  readonly event: string;
  readonly send: (rig: Rig, runId: string) => Promise<unknown>;
}

const by = 'a test';
test.each<Request>([
  { event: 'cancelRequested', send: (rig, runId) => requestCancel({ ...rig.options, runId, by }) },
  {
    event: 'approved',
    send: (rig, runId) => approveRun('/home', { runId, step: 'ask', approved: true, by }, rig.options),
  },
])('a request is confirmed when its record is durable: $event', async ({ event, send }) => {
  const rig = createRig(event);
  const { runId, directory } = await startAsking(rig, createSlowDisk(rig));
  expect(await rig.go(send(rig, runId))).toMatchObject({ ok: true });
  expect(Buffer.from(rig.disk.durable(`${directory}/journal.ndjson`)).toString()).toContain(`"${event}"`);
});

test('a request that meets a process leaving the run is not confirmed by it', async () => {
  const rig = createRig('leaving');
  const { runId, suspend } = await startAsking(rig, createSlowDisk(rig));
  const left = suspend();
  expect(await rig.go(requestCancel({ ...rig.options, runId, by }))).toEqual({
    ...{ ok: true, value: { runId, isExecuted: false } },
  });
  await rig.go(left);
});

test('a request that the journal does not take is not confirmed', async () => {
  const rig = createRig('failing');
  const { runId, finished } = await startAsking(rig, rig.options.disk!);
  rig.disk.failingSyncs = 1;
  expect(await rig.go(requestCancel({ ...rig.options, runId, by }))).toMatchObject({
    ...{ ok: false, error: { message: expect.stringContaining('it is not known whether the request was recorded') } },
  });
  expect(await rig.go(finished)).toMatchObject({ status: 'suspended' });
});
