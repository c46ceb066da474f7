import { type ContainerSpec, FEATURES, WRITABLE_MOUNTS_LABEL } from '@sluice/client';
import { describe, expect, it } from 'vitest';
import { bytes, ended, freshId, makeVolume, refOf, rejected } from './rig.ts';
import type { ContainerPlan, ServiceUnderTest, UnderTest } from './service-under-test.ts';

/** The three forms of a mount key, seen from inside where commands really run. */
export function describeMounts(open: UnderTest): void {
  describe('mounts', () => {
    it('mounts: a whole volume is read and written at its mount point', async ({ skip }) => {
      const sut = open();
      if (!sut.runsCommands) return skip('the engine runs no commands');
      const { id, files } = await volumeWithFiles(sut);
      await files.write('a.txt', Buffer.from('alpha'));
      const mounts = { [id]: '/mnt/data' };
      await run(sut, { copy: { from: '/mnt/data/a.txt', to: '/mnt/data/b.txt' }, end: 0 }, mounts);
      expect((await bytes(await files.read('b.txt'))).toString()).toBe('alpha');
    });

    it('mounts: a subdirectory hides the rest of its volume', async ({ skip }) => {
      const sut = open();
      if (!sut.runsCommands) return skip('the engine runs no commands');
      const { id, files } = await volumeWithFiles(sut);
      await files.write('in/a.txt', Buffer.from('alpha'));
      await files.write('secret.txt', Buffer.from('secret'));
      const mounts = { [`${id}:in`]: '/mnt/in', [`${id}:out/deep:dir`]: '/mnt/out' };
      await run(sut, { copy: { from: '/mnt/in/a.txt', to: '/mnt/out/b.txt' }, end: 0 }, mounts);
      expect((await bytes(await files.read('out/deep/b.txt'))).toString()).toBe('alpha');
      const over = await run(sut, { copy: { from: '/mnt/in/../secret.txt', to: '/mnt/out/c.txt' }, end: 0 }, mounts);
      expect(over).toBe('Failed');
    });

    it('mounts: a file keeps its content under the name of its mount point', async ({ skip }) => {
      const sut = open();
      if (!sut.runsCommands) return skip('the engine runs no commands');
      const { id, files } = await volumeWithFiles(sut);
      await files.write('config/v1.json', Buffer.from('{"v":1}'));
      const mounts = { [`${id}:config/v1.json`]: '/mnt/settings.json', [`${id}:result.txt:file`]: '/mnt/result' };
      await run(sut, { copy: { from: '/mnt/settings.json', to: '/mnt/result' }, end: 0 }, mounts);
      expect((await bytes(await files.read('result.txt'))).toString()).toBe('{"v":1}');
    });

    it('mounts: the options dir and file make what is not there, and leave what is', async () => {
      const sut = open();
      const { id, files } = await volumeWithFiles(sut);
      await files.write('old.txt', Buffer.from('old'));
      const mounts = {
        [`${id}:x/y:dir`]: '/mnt/d',
        [`${id}:x/z.txt:file`]: '/mnt/f',
        [`${id}:old.txt:file`]: '/mnt/o',
      };
      expect(await run(sut, { end: 0 }, mounts)).toBe('Succeeded');
      expect((await files.stat('x/y'))?.kind).toBe('dir');
      expect(await files.stat('x/z.txt')).toMatchObject({ kind: 'file', size: 0 });
      expect((await bytes(await files.read('old.txt'))).toString()).toBe('old');
    });

    it('mounts: two containers on one volume see the same files', async ({ skip }) => {
      const sut = open();
      if (!sut.runsCommands) return skip('the engine runs no commands');
      const { id, files } = await volumeWithFiles(sut);
      await files.write('seed', Buffer.from('s'));
      const mounts = { [id]: '/mnt/v' };
      await run(sut, { copy: { from: '/mnt/v/seed', to: '/mnt/v/one' }, end: 0 }, mounts);
      await run(sut, { copy: { from: '/mnt/v/one', to: '/mnt/v/two' }, end: 0 }, mounts);
      expect((await bytes(await files.read('two'))).toString()).toBe('s');
    });

    it('mounts: the label keeps what it does not name, where the cluster announces that', async ({ skip }) => {
      const sut = open();
      const types = await sut.service.discovery.listInstanceTypes(sut.scope.clusterID);
      const { features = [] } = types.find(({ id }) => id === sut.instanceType) ?? {};
      if (!sut.runsCommands || !features.includes(FEATURES.readOnlyMounts)) return skip('no read-only mounts here');
      const { id, files } = await volumeWithFiles(sut);
      await files.write('in/a.txt', Buffer.from('alpha'));
      const mounts = { [`${id}:in`]: '/mnt/in', [`${id}:out:dir`]: '/mnt/out' };
      const labels = { [WRITABLE_MOUNTS_LABEL]: '["/mnt/out"]' };
      const copy = (to: string) => run(sut, { copy: { from: '/mnt/in/a.txt', to }, end: 0, labels }, mounts);
      expect(await copy('/mnt/out/b.txt')).toBe('Succeeded');
      expect(await copy('/mnt/in/b.txt')).toBe('Failed');
      expect((await files.list('in')).map(({ path }) => path)).toEqual(['in/a.txt']);
    });

    it('mounts: a mounted volume outlives the container, also a deleted one', async () => {
      const sut = open();
      const { id, files } = await volumeWithFiles(sut);
      await files.write('stay', Buffer.from('s'));
      const containerID = freshId('m');
      const spec = { ...sut.spec({ end: 0 }), volumeMounts: { [id]: '/mnt/v' } };
      await sut.service.containers.create(sut.scope, spec, { containerID });
      await ended(sut, refOf(sut, containerID));
      await sut.service.containers.delete(refOf(sut, containerID));
      expect((await bytes(await files.read('stay'))).toString()).toBe('s');
    });

    it('mounts: the wildcard as cluster is rejected where a volume is mounted', async () => {
      const sut = open();
      const { id } = await volumeWithFiles(sut);
      const spec = { ...sut.spec({ end: 0 }), volumeMounts: { [id]: '/mnt/v' } };
      await rejected(sut.service.containers.create({ ...sut.scope, clusterID: '-' }, spec), 'INVALID_ARGUMENT');
    });
  });
}

async function volumeWithFiles(sut: ServiceUnderTest) {
  const volume = await makeVolume(sut, 'mount');
  if (volume.service === undefined) throw new Error('The transfer service was asked for, but create gave no login');
  return { id: volume.id, files: sut.service.volumes.files(refOf(sut, volume.id), volume.service) };
}

/** Runs a container with these mounts and gives the phase in which it ended. */
async function run(
  sut: ServiceUnderTest,
  plan: ContainerPlan & Pick<ContainerSpec, 'labels'>,
  volumeMounts: Record<string, string>,
) {
  const containerID = freshId('mount');
  const { labels = {} } = plan;
  await sut.service.containers.create(sut.scope, { ...sut.spec(plan), volumeMounts, labels }, { containerID });
  return (await ended(sut, refOf(sut, containerID))).phase;
}
