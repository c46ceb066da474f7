import { readDurations } from '@sluice/home';
import { expect, test } from 'vitest';
import { createHandPlan, createStep } from '../../../run/test/plans.ts';
import { startRun } from '../../src/run/start-run.ts';
import { createRig, type Rig } from '../simulation/rig.ts';

/** Two chains of two, and one long step that the file has last. */
const plan = createHandPlan(
  [
    createStep('a'),
    createStep('a2', { needs: [{ step: 'a', condition: 'succeeded' }] }),
    createStep('b'),
    createStep('b2', { needs: [{ step: 'b', condition: 'succeeded' }] }),
    createStep('long'),
  ],
  { parallelism: 2 },
);

async function run(rig: Rig): Promise<{ first: string[]; tookMs: number }> {
  const before = rig.created().length;
  const begun = rig.clock.now();
  const started = await rig.go(startRun({ ...rig.options, plan, baseDir: '/base' }));
  if (!started.ok) throw new Error(started.error.message);
  expect(await rig.go(started.value.finished)).toMatchObject({ status: 'succeeded' });
  const made = rig.created().slice(before);
  // Two go out together, and either may arrive first.
  return {
    first: made
      .slice(0, 2)
      .map(({ wire }) => wire.labels?.['sluice-step'] ?? '')
      .sort(),
    tookMs: rig.clock.now() - begun,
  };
}

test('a second run orders its steps by the durations that the first one measured, and ends sooner', async () => {
  const rig = createRig('durations', { behave: { long: { runMs: 60_000 }, a2: { runMs: 30_000 } } });
  const first = await run(rig);
  expect(first.first).toEqual(['a', 'b']);
  const second = await run(rig);
  expect(second.first).toEqual(['a', 'long']);
  expect(second.tookMs).toBeLessThan(first.tookMs);
});

test('durations that cannot be read are as good as none', async () => {
  const rig = createRig('durations', {});
  rig.disk.files.set('/home/durations/hand.json', Buffer.from('{"a": "soon"}'));
  expect((await run(rig)).first).toEqual(['a', 'b']);
});

test('one noisy run does not outweigh the runs before it', async () => {
  const behave: Record<string, { runMs: number }> = { a: { runMs: 1000 } };
  const rig = createRig('durations', { behave });
  rig.disk.files.set('/home/durations/hand.json', Buffer.from('{"a": [1000], "gone": [5]}'));
  for (const runMs of [1000, 1000, 90_000]) {
    behave.a = { runMs };
    await run(rig);
  }
  const durations = await readDurations(rig.disk, '/home', 'hand');
  expect(durations?.gone).toBe(5);
  expect(durations?.a).toBeLessThan(2000);
  for (let slow = 0; slow < 6; slow++) await run(rig);
  expect((await readDurations(rig.disk, '/home', 'hand'))?.a).toBeGreaterThan(80_000);
  const stored = JSON.parse(Buffer.from(rig.disk.files.get('/home/durations/hand.json')!).toString('utf8'));
  expect(stored.a).toHaveLength(7);
});
