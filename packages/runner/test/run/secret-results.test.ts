import { describeStatus, type RunReport } from '@sluice/run';
import { expect, test } from 'vitest';
import { createHandPlan, createStep } from '../../../run/test/plans.ts';
import { startRun } from '../../src/run/start-run.ts';
import { writeFile } from '../simulation/memory-files.ts';
import { createRig, type Rig } from '../simulation/rig.ts';

const find = createStep('find', {
  command: ['find'],
  results: { model: { type: 'string', file: 'model' } },
  secrets: ['WORD'],
  cache: { ignore: [] },
});
const PLAN = createHandPlan([
  find,
  createStep('use', {
    command: ['use', '${{ steps.find.results.model }}'],
    needs: [{ step: 'find', condition: 'succeeded' }],
  }),
]);

async function run(rig: Rig, secret: string): Promise<RunReport> {
  const started = await rig.go(startRun({ ...rig.options, plan: PLAN, baseDir: '/base', secrets: () => secret }));
  if (!started.ok) throw new Error(started.error.message);
  return rig.go(started.value.finished);
}

function createResultRig(text: string): Rig {
  const rig: Rig = createRig('secret', {
    behave: {
      find: {
        work({ volumeMounts = {} }) {
          const [volume = '', place = ''] = Object.keys(volumeMounts)[0]!.split(':');
          writeFile(rig.simulated.volumes.get(volume)!, `${place}/model`, Buffer.from(text));
        },
      },
    },
  });
  return rig;
}

const commands = (rig: Rig) => rig.created().map(({ wire }) => wire.command);

test('a result that contains the value of a secret fails its step, and never reaches a dependent changed', async () => {
  const rig = createResultRig('latest-model');
  const report = await run(rig, 'test');
  expect(report.status).toBe('failed');
  expect(report.failures.map(({ message }) => message)).toEqual([
    'could not publish: result model contains the value of the secret WORD, and results are written to the journal; leave it out of the result, or give the secret a value that no result contains',
  ]);
  expect(commands(rig)).toEqual([['find']]);
  expect(Buffer.concat([...rig.disk.files.values()]).toString()).not.toContain('latest-model');
});

test('a cached result is not taken where it contains the value that the secret has now', async () => {
  const rig = createResultRig('latest-model');
  expect((await run(rig, 'other')).status).toBe('succeeded');
  expect(commands(rig)).toEqual([['find'], ['use', 'latest-model']]);
  const second = await run(rig, 'test');
  expect(second.steps.map(describeStatus)).toEqual(['failed', 'skipped']);
  expect((await run(rig, 'other')).steps.map(describeStatus)).toEqual(['reused', 'succeeded']);
  expect(commands(rig).at(-1)).toEqual(['use', 'latest-model']);
});
