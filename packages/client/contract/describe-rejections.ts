import type { ContainerSpec } from '@sluice/client';
import { describe, expect, it } from 'vitest';
import { all, bytes, containerIds, ended, freshId, makeVolume, refOf, rejected, start } from './rig.ts';
import type { UnderTest } from './service-under-test.ts';

/** Specs that are wrong in one place; what is not of the type is what a client in another language might send. */
const BAD_SPECS: ReadonlyArray<readonly [string, Record<string, unknown>]> = [
  ['an instance type that is not offered', { instanceType: 'no-such-type' }],
  ['no instance type', { instanceType: undefined }],
  ['an instance type of the wrong kind', { instanceType: 7 }],
  ['a command that is one string', { command: 'echo hello' }],
  ['a NUL in an argument', { command: ['echo', 'a\0b'] }],
  ['a port name in capitals', { ports: { Web: {} } }],
  ['a port that is a number', { ports: { web: 8080 } }],
  ['a label that is a number', { labels: { run: 1 } }],
  ['an environment variable with = in its name', { envs: { 'A=B': 'x' } }],
  ['an environment variable with NUL in its value', { envs: { A: 'x\0y' } }],
  ['mounts as an array', { volumeMounts: ['v'] }],
  ['a field that does not exist', { comand: ['echo'] }],
];

/** Mount keys that leave the volume or are not of the three forms; `$` stands for a volume that is there. */
const BAD_MOUNTS: ReadonlyArray<readonly [string, string]> = [
  ['$:../x', '/mnt/v'],
  ['$:a/../../x', '/mnt/v'],
  ['$:/etc', '/mnt/v'],
  ['$:a\0b:dir', '/mnt/v'],
  ['$:a:link', '/mnt/v'],
  ['$:a:dir:b', '/mnt/v'],
  ['UPPER', '/mnt/v'],
  ['', '/mnt/v'],
  ['$', 'mnt/v'],
  ['$', ''],
  ['$', '/mnt/../v'],
  ['$', '/'],
];

/** Wrong calls: the right code, and nothing has changed. */
export function describeRejections(open: UnderTest): void {
  describe('rejections', () => {
    it.each(BAD_SPECS)('create: rejects %s', async (_, wrong) => {
      const sut = open();
      const before = await containerIds(sut);
      const spec = { ...sut.spec({ end: 0 }), ...wrong } as unknown as ContainerSpec;
      await rejected(sut.service.containers.create(sut.scope, spec), 'INVALID_ARGUMENT');
      expect(await containerIds(sut)).toEqual(before);
    });

    it('create: an unknown field is answered with the nearest known one', async () => {
      const sut = open();
      const spec = { ...sut.spec({ end: 0 }), comand: ['x'] } as unknown as ContainerSpec;
      const error = await rejected(sut.service.containers.create(sut.scope, spec), 'INVALID_ARGUMENT');
      expect(error.message).toMatch(/comand.*command/s);
    });

    it.each(['Upper', 'under_score', 'a b', 'a:cancel', 'ü', '../x', 'x'.repeat(64)])(
      'create: rejects %j as an ID',
      async (containerID) => {
        const sut = open();
        const before = await containerIds(sut);
        const spec = sut.spec({ end: 0 });
        await rejected(sut.service.containers.create(sut.scope, spec, { containerID }), 'INVALID_ARGUMENT');
        await rejected(sut.service.volumes.create(sut.scope, { volumeID: containerID }), 'INVALID_ARGUMENT');
        expect(await containerIds(sut)).toEqual(before);
      },
    );

    it('create: rejects mounts that leave the volume or are of no known form', async () => {
      const sut = open();
      const { id } = await makeVolume(sut, 'bad');
      const before = await containerIds(sut);
      for (const [key, target] of BAD_MOUNTS) {
        const spec = { ...sut.spec({ end: 0 }), volumeMounts: { [key.replace('$', id)]: target } };
        const outcome = rejected(sut.service.containers.create(sut.scope, spec), 'INVALID_ARGUMENT');
        await expect(outcome, `${JSON.stringify(key)} at ${target}`).resolves.toBeDefined();
      }
      expect(await containerIds(sut)).toEqual(before);
    });

    it('create: rejects a mount of a volume that is not there', async () => {
      const sut = open();
      const spec = { ...sut.spec({ end: 0 }), volumeMounts: { [freshId('none')]: '/mnt/v' } };
      await rejected(sut.service.containers.create(sut.scope, spec), 'NOT_FOUND', 'INVALID_ARGUMENT');
    });

    it('get, logs, cancel, delete: what is not there is NOT_FOUND', async () => {
      const sut = open();
      const ref = refOf(sut, freshId('none'));
      const { containers, volumes } = sut.service;
      await rejected(containers.get(ref), 'NOT_FOUND');
      await rejected(bytes(containers.logs(ref)), 'NOT_FOUND');
      await rejected(bytes(containers.logs(ref, { follow: true })), 'NOT_FOUND');
      await rejected(containers.cancel(ref), 'NOT_FOUND');
      await rejected(containers.delete(ref), 'NOT_FOUND');
      await rejected(volumes.delete(ref), 'NOT_FOUND');
      await rejected(volumes.undelete(ref), 'NOT_FOUND');
    });

    it('wildcards: are rejected where the protocol has none', async () => {
      const sut = open();
      const ref = await start(open, { end: 0 });
      await ended(sut, ref);
      const { containers, volumes } = sut.service;
      for (const wild of [{ clusterID: '-' }, { accountID: '-' }]) {
        const anywhere = { ...sut.scope, ...wild };
        await rejected(containers.get({ ...ref, ...wild }), 'INVALID_ARGUMENT');
        await rejected(bytes(containers.logs({ ...ref, ...wild })), 'INVALID_ARGUMENT');
        await rejected(containers.cancel({ ...ref, ...wild }), 'INVALID_ARGUMENT');
        await rejected(containers.delete({ ...ref, ...wild }), 'INVALID_ARGUMENT');
        await rejected(all(containers.list(anywhere)), 'INVALID_ARGUMENT');
        await rejected(volumes.create(anywhere), 'INVALID_ARGUMENT');
        await rejected(volumes.delete({ ...anywhere, id: 'v' }), 'INVALID_ARGUMENT');
        await rejected(volumes.undelete({ ...anywhere, id: 'v' }), 'INVALID_ARGUMENT');
      }
      const nobody = { ...sut.scope, accountID: '-' };
      await rejected(containers.create(nobody, sut.spec({ end: 0 })), 'INVALID_ARGUMENT');
      expect((await containers.get(ref)).phase).toBe('Succeeded');
    });

    it('list and logs: reject numbers that count nothing', async () => {
      const sut = open();
      const ref = await start(open, { end: 0 });
      await ended(sut, ref);
      for (const pageSize of [0, -1, 1.5]) {
        await rejected(all(sut.service.containers.list(sut.scope, { pageSize })), 'INVALID_ARGUMENT');
        await rejected(all(sut.service.volumes.list(sut.scope, { pageSize })), 'INVALID_ARGUMENT');
      }
      for (const tail of [-1, 0.5])
        await rejected(bytes(sut.service.containers.logs(ref, { tail })), 'INVALID_ARGUMENT');
    });

    it('accounts: one that is not the caller’s is denied, whether it exists or not', async ({ skip }) => {
      const sut = open();
      const { containers, volumes, discovery } = sut.service;
      const strangers = [
        { ...sut.scope, accountID: 'no-such-account' },
        { clusterID: 'no-such-cluster', accountID: sut.scope.accountID },
        ...(sut.foreignScope === undefined ? [] : [sut.foreignScope]),
      ];
      for (const scope of strangers) {
        await rejected(containers.get({ ...scope, id: 'x' }), 'PERMISSION_DENIED');
        await rejected(containers.create(scope, sut.spec({ end: 0 })), 'PERMISSION_DENIED');
        await rejected(all(containers.list(scope)), 'PERMISSION_DENIED');
        await rejected(containers.cancel({ ...scope, id: 'x' }), 'PERMISSION_DENIED');
        await rejected(containers.delete({ ...scope, id: 'x' }), 'PERMISSION_DENIED');
        await rejected(volumes.create(scope), 'PERMISSION_DENIED');
        await rejected(all(volumes.list(scope)), 'PERMISSION_DENIED');
        await rejected(volumes.delete({ ...scope, id: 'x' }), 'PERMISSION_DENIED');
      }
      if (sut.foreignScope === undefined) return skip('the service has no foreign account to look for');
      expect(await discovery.listAccounts('-')).not.toContainEqual(sut.foreignScope);
    });

    it('signal: a call that was aborted before it began is ABORTED and sends nothing', async () => {
      const sut = open();
      const signal = AbortSignal.abort();
      const containerID = freshId('aborted');
      const created = sut.service.containers.create(sut.scope, sut.spec({ end: 0 }), { containerID, signal });
      await rejected(created, 'ABORTED');
      await rejected(sut.service.containers.get(refOf(sut, containerID)), 'NOT_FOUND');
    });
  });
}
