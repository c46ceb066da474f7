import { stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { JobRequest } from '@sluice/client';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openToUser } from '../../../src/engines/docker/open-to-user.ts';
import { LOCAL_STORAGE } from '../../../src/storage/storage-access.ts';
import { openConfinedTree } from '../../../src/volumes/files/confined-tree.ts';
import { removeTree } from '../../../src/volumes/files/remove-tree.ts';
import { EngineRig } from '../engine-rig.ts';
import { createWith } from './create-engine.ts';
import { dockerSubject } from './docker-rig.ts';

const ENGINES = [
  ['Docker', process.env.SLUICE_TEST_DOCKER_SOCKET],
  ['Podman', process.env.SLUICE_TEST_PODMAN_SOCKET],
] as const;

describe.each(ENGINES)('options of containers on %s', (_name, socketPath) => {
  const isMissing = socketPath === undefined && process.env.CI !== 'true';
  const rig = new EngineRig(
    () => createWith({ socketPath: socketPath ?? '', allow: ['shmSize', 'ulimits', 'user'] }),
    dockerSubject(),
  );
  const mountOf = (root: string, readOnly = false) =>
    ({ root, subPath: '', kind: 'dir', target: '/data', readOnly }) as const;

  beforeAll(async () => {
    if (!isMissing) await rig.open();
  });
  afterAll(async () => {
    if (!isMissing) await rig.close();
  });

  async function output(script: string, docker: NonNullable<JobRequest['docker']>): Promise<string> {
    const container = await rig.run(script, { job: { docker } });
    expect(await container.end()).toEqual({ kind: 'exited', exitCode: 0 });
    return await container.text();
  }

  it.skipIf(isMissing)('gives the shared memory its size', async () => {
    expect(await output('df -k /dev/shm | tail -1', { shmSize: 48 * 2 ** 20 })).toMatch(/\s49152\s.*\/dev\/shm/);
  });

  it.skipIf(isMissing)('sets the limits of processes', async () => {
    // Podman raises `nofile` and `nproc` if it sets any limit; the machine of the test may forbid that.
    const ulimits = { nproc: { soft: 999, hard: 999 }, nofile: { soft: 123, hard: 456 }, core: { soft: 0, hard: 0 } };
    const text = await output('grep -E "open files|core file|processes" /proc/self/limits', { ulimits });
    expect(text).toMatch(/core file size +0 +0 /);
    expect(text).toMatch(/max processes +999 +999 /i);
    expect(text).toMatch(/open files +123 +456 /);
  });

  it.skipIf(isMissing)('runs as the user, who cannot become root', async () => {
    const text = await output('id -u; id -g; grep NoNewPrivs /proc/self/status', { user: '4711:4712' });
    expect(text).toBe('4711\n4712\nNoNewPrivs:\t1\n');
  });

  it.skipIf(isMissing)('rejects root', async () => {
    const root = await rig.prepare({ command: ['true'], job: { docker: { user: '0' } } });
    expect(() => rig.engine.checkJob?.(root.launch.job!, { options: {}, gpus: 0 })).toThrow('this user is root');
    expect(await rig.rejection(root)).toMatchObject({ reason: expect.stringContaining('this user is root') });
  });

  it.skipIf(isMissing || process.geteuid?.() !== 0)(
    'lets the user write a volume, and the service read and remove what he wrote',
    async () => {
      const volume = await rig.makeDirectory(`volume-${_name}`);
      await writeFile(join(volume, 'old'), 'old\n', { mode: 0o644 });
      const script =
        'umask 077; mkdir /data/a; cat /data/old > /data/a/b; if echo x > /data/old; then exit 9; fi; exit 0';
      const container = await rig.run(script, { mounts: [mountOf(volume)], job: { docker: { user: '4711' } } });
      expect(await container.end()).toEqual({ kind: 'exited', exitCode: 0 });
      expect(await stat(join(volume, 'a'))).toMatchObject({ uid: 4711 });
      expect(await stat(join(volume, 'old'))).toMatchObject({ uid: 0 });
      expect(await rig.read(`volume-${_name}/a/b`)).toBe('old\n');
      const tree = openConfinedTree(volume);
      expect(await removeTree(tree, 'a')).toBe(true);
      await expect(stat(join(volume, 'a'))).rejects.toMatchObject({ code: 'ENOENT' });
    },
  );

  it.skipIf(isMissing)('opens no volume that is mounted read-only', async () => {
    const volume = await rig.makeDirectory(`read-${_name}`);
    const { mode } = await stat(volume);
    const mounts = [mountOf(volume, true)];
    await (await rig.run('true', { mounts, job: { docker: { user: '4711' } } })).end();
    expect((await stat(volume)).mode).toBe(mode);
  });
});

describe('openToUser', () => {
  const mount = { root: '/v', subPath: 'x', kind: 'dir', target: '/data' } as const;
  const source = { mount, path: '/v/x', identity: '1:2', submounts: [] };

  it('rejects a user whose files a service that is not root could not remove', async () => {
    const options = { serviceUid: 1000, storage: LOCAL_STORAGE };
    await expect(openToUser([source], { ...options, user: '4711' })).rejects.toMatchObject({
      code: 'REJECTED',
      message: expect.stringContaining('use "1000"'),
    });
    await expect(openToUser([source], { ...options, user: '1000:5' })).resolves.toBeUndefined();
    const readOnly = { ...source, mount: { ...mount, readOnly: true } };
    await expect(openToUser([readOnly], { ...options, user: '4711' })).resolves.toBeUndefined();
  });

  it('opens nothing that has replaced the file of the volume', async () => {
    const replaced = { ...source, path: '/etc' };
    const { mode } = await stat('/etc');
    await expect(openToUser([replaced], { user: '4711', serviceUid: 0, storage: LOCAL_STORAGE })).rejects.toMatchObject(
      { message: expect.stringContaining('was replaced') },
    );
    expect((await stat('/etc')).mode).toBe(mode);
  });
});
