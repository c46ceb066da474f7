import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { type Claim, createSystemDisk, type Disk } from '@sluice/home';
import { expect, test } from 'vitest';
import { createHandPlan, createStep } from '../../../run/test/plans.ts';
import { resumeRun } from '../../src/run/resume-run.ts';
import { startRun } from '../../src/run/start-run.ts';
import { createRig, type Rig } from '../simulation/rig.ts';

const PLAN = createHandPlan([
  createStep('quick', { matrix: { axes: { n: [1, 2, 3, 4, 5] }, include: [], exclude: [] } }),
  createStep('slow'),
  createStep('after', { needs: [{ step: 'slow', condition: 'succeeded' }] }),
]);

/** A disk as one host sees it: its locks are its own, as on most network file systems. */
function onHost(disk: Disk, { locksWork }: { readonly locksWork: boolean }): Disk {
  const claimed = new Set<string>();
  return {
    ...disk,
    async claim(directory): Promise<Claim | undefined> {
      if (locksWork && claimed.has(directory)) return undefined;
      claimed.add(directory);
      return { release: async () => void claimed.delete(directory) };
    },
    ask: async (directory) => (claimed.has(directory) ? 'ok' : undefined),
  };
}

async function startOn(rig: Rig, disk: Disk) {
  const started = await rig.go(startRun({ ...rig.options, disk, plan: PLAN, baseDir: '/base' }));
  if (!started.ok) throw new Error(started.error.message);
  return started.value;
}

const idsOf = (rig: Rig) => rig.created().map(({ wire }) => wire.id);

test.each([{ hints: true }, { hints: false }])(
  'on one host with locks, a second runner is rejected and the first goes on (hints: $hints)',
  async ({ hints }) => {
    const rig = createRig('locked', { hints, behave: { slow: { runMs: 600_000 } } });
    const host = onHost(rig.disk, { locksWork: true });
    const first = await startOn(rig, host);
    await rig.until(() => rig.created().length === 6);
    const second = await rig.go(resumeRun({ ...rig.options, disk: host, runId: first.runId }));
    expect(second).toMatchObject({ ok: false, error: { code: 'RUN_IN_USE' } });
    expect(await rig.go(first.finished)).toMatchObject({ status: 'succeeded' });
    expect(idsOf(rig)).toHaveLength(7);
  },
);

const WORLDS = [
  { hosts: 1, locksWork: false },
  { hosts: 2, locksWork: true },
  { hosts: 2, locksWork: false },
];

test.each(WORLDS.flatMap((world) => [1, 3, 6].map((containers) => ({ ...world, containers }))))(
  'on $hosts hosts (locks: $locksWork), a second runner takes over after $containers containers, the older one stops',
  async ({ hosts, locksWork, containers }) => {
    for (const hints of [true, false]) {
      const rig = createRig('taken over', { hints, behave: { slow: { runMs: 600_000 }, quick: { runMs: 2000 } } });
      const here = onHost(rig.disk, { locksWork });
      const there = hosts === 1 ? here : onHost(rig.disk, { locksWork });
      const older = await startOn(rig, here);
      await rig.until(() => rig.created().length >= containers);
      const newer = await rig.go(resumeRun({ ...rig.options, disk: there, runId: older.runId }));
      if (!newer.ok) throw new Error(newer.error.message);
      // It stops while the slow container still runs: it does not wait for something to happen.
      const left = await rig.go(older.finished);
      expect(left).toMatchObject({ status: 'suspended', message: expect.stringContaining('another runner') });
      expect(rig.created().some(({ live }) => live)).toBe(true);
      expect(await rig.go(newer.value.finished)).toMatchObject({ status: 'succeeded' });
      expect(idsOf(rig)).toEqual([...new Set(idsOf(rig))]);
      expect(idsOf(rig)).toHaveLength(7);
    }
  },
);

test('runners that take a run from each other again and again start nothing twice', async () => {
  const rig = createRig('tug', { behave: { slow: { runMs: 60_000 }, quick: { runMs: 5000 } } });
  const first = await startOn(rig, onHost(rig.disk, { locksWork: true }));
  let last = first;
  for (let turn = 0; turn < 8; turn++) {
    await rig.go(rig.clock.delay(700 * turn));
    const next = await rig.go(
      resumeRun({ ...rig.options, disk: onHost(rig.disk, { locksWork: true }), runId: first.runId }),
    );
    if (!next.ok) throw new Error(next.error.message);
    expect(await rig.go(last.finished)).toMatchObject({ status: 'suspended' });
    last = next.value;
  }
  expect(await rig.go(last.finished)).toMatchObject({ status: 'succeeded' });
  expect(idsOf(rig)).toEqual([...new Set(idsOf(rig))]);
  expect(idsOf(rig)).toHaveLength(7);
});

test('on real files without locks, the older runner stops', async () => {
  const home = await mkdtemp(path.join(tmpdir(), 'sluice-two-'));
  try {
    const rig = createRig('real', { realTime: true, behave: { slow: { runMs: 3000 } } });
    const options = { ...rig.options, home };
    const older = await startRun({ ...options, disk: withoutLocks(), plan: PLAN, baseDir: home });
    if (!older.ok) throw new Error(older.error.message);
    await rig.until(() => rig.created().length === 6);
    const newer = await resumeRun({ ...options, disk: withoutLocks(), runId: older.value.runId });
    if (!newer.ok) throw new Error(newer.error.message);
    expect(await older.value.finished).toMatchObject({ status: 'suspended' });
    expect(await newer.value.finished).toMatchObject({ status: 'succeeded' });
    expect(idsOf(rig)).toHaveLength(7);
  } finally {
    await rm(home, { recursive: true, force: true });
  }
});

function withoutLocks(): Disk {
  return { ...createSystemDisk(), claim: async () => ({ release: async () => {} }), ask: async () => undefined };
}
