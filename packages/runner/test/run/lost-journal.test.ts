import { ServiceError } from '@sluice/client';
import { readRun } from '@sluice/home';
import { describe, expect, test } from 'vitest';
import { createHandPlan, createStep } from '../../../run/test/plans.ts';
import { resumeRun } from '../../src/run/resume-run.ts';
import { startRun } from '../../src/run/start-run.ts';
import { killedAfter } from '../simulation/killed-after.ts';
import { createRig, type Rig, type RigOptions } from '../simulation/rig.ts';

const PLAN = createHandPlan([createStep('first'), createStep('second')]);
const RUN_ID = 'aaaaaaaaaaaaa';
const DIRECTORY = `/home/runs/${RUN_ID}`;
const JOURNAL = `${DIRECTORY}/journal.ndjson`;

const begin = (rig: Rig) => ({ ...rig.options, runId: RUN_ID, plan: PLAN, baseDir: '/base' });
const filesOf = (rig: Rig) => [...rig.disk.files.keys()].filter((path) => path.startsWith(`${DIRECTORY}/`));

/** Starts a run, leaves it while its containers run, and loses its journal. */
async function lose(given: RigOptions = {}): Promise<Rig> {
  const rig = createRig('lost journal', { behave: { first: { runMs: 1e7 }, second: { runMs: 1e7 } }, ...given });
  const started = await rig.go(startRun(begin(rig)));
  if (!started.ok) throw new Error(started.error.message);
  await rig.until(() => rig.created().length === 2);
  await rig.go(started.value.suspend());
  rig.disk.files.delete(JOURNAL);
  return rig;
}

describe('resumeRun', () => {
  test.each(['works', 500, 'loops'] as const)(
    'finds the containers of a run whose journal is lost, with a list that %s',
    async (list) => {
      const rig = await lose({ dialect: { list } });
      const rejected = await rig.go(resumeRun({ ...rig.options, runId: RUN_ID }));
      expect(rejected).toMatchObject({
        error: {
          code: 'JOURNAL_LOST',
          message: expect.stringContaining('has 2 of its containers, 2 of them not ended'),
        },
      });
      expect(rig.created()).toHaveLength(2);
      expect(await rig.go(readRun('/home', RUN_ID, rig.disk))).toMatchObject({ error: { code: 'JOURNAL_LOST' } });
    },
  );

  test('does not guess where the service cannot be asked or rejects the login', async () => {
    const rig = await lose();
    const { service } = rig.options;
    for (const [error, code] of [
      [new ServiceError('UNAUTHENTICATED', 'the service replied 401', { status: 401 }), 'LOGIN_REJECTED'],
      [new ServiceError('UNREACHABLE', 'no connection'), 'SERVICE_UNREACHABLE'],
    ] as const) {
      const discovery = { ...service.discovery, listAccounts: () => Promise.reject(error) };
      const rejected = await rig.go(resumeRun({ ...rig.options, service: { ...service, discovery }, runId: RUN_ID }));
      expect(rejected).toMatchObject({ error: { code, message: expect.stringContaining('the journal of run') } });
    }
    expect(filesOf(rig)).toContain(`${DIRECTORY}/plan.json`);
  });

  test('keeps a run that has begun, and whose containers the service has forgotten', async () => {
    const rig = await lose();
    for (const { wire } of rig.created()) await rig.go(rig.options.service.containers.delete({ ...wire }));
    const rejected = await rig.go(resumeRun({ ...rig.options, runId: RUN_ID }));
    expect(rejected).toMatchObject({
      error: { code: 'JOURNAL_LOST', message: expect.stringContaining('no container') },
    });
    expect(filesOf(rig)).toContain(`${DIRECTORY}/plan.json`);
  });

  test('goes on, or leaves nothing behind, wherever a run is killed before its first record', async () => {
    const seen = { removed: 0, resumed: 0 };
    for (let operation = 1; operation <= 40; operation++) {
      const rig = createRig(`killed ${operation}`);
      const process = killedAfter(rig, operation);
      const { service, disk, clock } = process;
      const begun = startRun({ ...begin(rig), service, disk, clock });
      await rig.go(
        Promise.race([begun.then(async (one) => (one.ok ? await one.value.finished : undefined)), process.died]),
      );
      const hadFiles = filesOf(rig).length > 0;
      const resumed = await rig.go(resumeRun({ ...rig.options, runId: RUN_ID }));
      if (resumed.ok) {
        seen.resumed++;
        expect((await rig.go(resumed.value.finished)).status).toBe('succeeded');
      } else if (resumed.error.code === 'RUN_NOT_FOUND') {
        expect(filesOf(rig), `operation ${operation}`).toEqual([]);
        if (hadFiles) seen.removed++;
        expect(rig.created()).toEqual([]);
        const again = await rig.go(startRun(begin(rig)));
        if (!again.ok) throw new Error(again.error.message);
        expect((await rig.go(again.value.finished)).status).toBe('succeeded');
      } else expect(resumed.error.code, `operation ${operation}`).toBe('RUN_FINISHED');
    }
    expect(seen.removed).toBeGreaterThan(0);
    expect(seen.resumed).toBeGreaterThan(0);
  });

  test('stores the summary of a run that was killed right after its first record', async () => {
    const rig = createRig('no summary');
    const summary = `${DIRECTORY}/summary.json`;
    const started = await rig.go(startRun(begin(rig)));
    if (!started.ok) throw new Error(started.error.message);
    await rig.go(started.value.suspend());
    rig.disk.files.delete(summary);
    const resumed = await rig.go(resumeRun({ ...rig.options, runId: RUN_ID }));
    if (!resumed.ok) throw new Error(resumed.error.message);
    expect(JSON.parse(String(rig.disk.files.get(summary)))).toMatchObject({ pipeline: 'hand' });
    await rig.go(resumed.value.finished);
  });
});
