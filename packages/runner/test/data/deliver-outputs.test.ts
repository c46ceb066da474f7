import { mkdtemp, readFile, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { type ContainerService, ServiceError } from '@sluice/client';
import { createSystemDisk } from '@sluice/home';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createHandPlan } from '../../../run/test/plans.ts';
import { createChangeRig, make, run } from './change-rig.ts';

let base: string;
beforeEach(async () => {
  base = await mkdtemp(path.join(tmpdir(), 'sluice-publish-'));
});
afterEach(() => rm(base, { recursive: true, force: true }));

const PLAN = createHandPlan([make], {
  outputs: { data: { from: { step: 'make', output: 'data' }, publish: './results' } },
});

/** Runs one step, and publishes its output from a service that fails the first reads with this error. */
async function publish(failures: number, error: ServiceError) {
  const rig = createChangeRig({ realTime: true });
  const { service } = rig.options;
  let reads = 0;
  const files: ContainerService['volumes']['files'] = (...of) => {
    const opened = service.volumes.files(...of);
    return {
      ...opened,
      read: (...at) => (++reads <= failures ? Promise.reject(error) : opened.read(...at)),
    };
  };
  const volumes = { ...service.volumes, files };
  const options = { ...rig.options, home: path.join(base, 'home'), disk: createSystemDisk() };
  const report = await run({ ...rig, options: { ...options, service: { ...service, volumes } } }, PLAN, {
    baseDir: base,
  });
  return { report, reads };
}

test('an output is published when the service replies again', async () => {
  const { report, reads } = await publish(2, new ServiceError('NO_REPLY', 'the reply broke off'));
  expect(reads).toBe(3);
  expect(report.outputs.data).toMatchObject({ publishedTo: path.join(base, 'results') });
  expect(await readFile(path.join(base, 'results', 'n'), 'utf8')).toBe('6');
});

test('an output is not requested again after a definite rejection', async () => {
  const { report, reads } = await publish(1, new ServiceError('PERMISSION_DENIED', 'no access'));
  expect(reads).toBe(1);
  expect(report.outputs.data?.notPublished).toContain('no access');
});

test('an output is not published to the directory of another one, to which a link leads that appeared during the run', async () => {
  const from = { step: 'make', output: 'data' };
  const outputs = { one: { from, publish: './one' }, two: { from, publish: './two' } };
  const rig = createChangeRig({ realTime: true });
  const { service } = rig.options;
  let linked = false;
  const files: ContainerService['volumes']['files'] = (...of) => {
    const opened = service.volumes.files(...of);
    const read: typeof opened.read = async (...at) => {
      if (!linked) await symlink('one', path.join(base, 'two'));
      linked = true;
      return opened.read(...at);
    };
    return { ...opened, read };
  };
  const options = { ...rig.options, home: path.join(base, 'home'), disk: createSystemDisk() };
  const volumes = { ...service.volumes, files };
  const report = await run(
    { ...rig, options: { ...options, service: { ...service, volumes } } },
    createHandPlan([make], { outputs }),
    { baseDir: base },
  );
  expect(report.outputs.one).toMatchObject({ publishedTo: path.join(base, 'one') });
  expect(report.outputs.two?.notPublished).toContain('it holds output one of this run');
  expect(await readFile(path.join(base, 'one', '.sluice-result.json'), 'utf8')).toContain('"output": "one"');
});
