import type { ChildProcess } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { EngineRig } from '../engine-rig.ts';
import { createWith } from './create-engine.ts';
import { freePort, startRegistry } from './docker-registry-rig.ts';
import { daemon, daemonCall, dockerSubject, hasDocker, makeImage } from './docker-rig.ts';

const { SLUICE_TEST_DOCKER_SOCKET: socketPath, SLUICE_TEST_DOCKER_IMAGE: testImage } = process.env;

describe.skipIf(!hasDocker && process.env.CI !== 'true')('Docker engine and a registry with logins', () => {
  let directory: string;
  let server: ChildProcess;
  let registry: string;
  let image: string;

  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'sluice-registry-'));
    registry = `127.0.0.1:${await freePort()}`;
    image = `${registry}/private:1`;
    server = await startRegistry(directory, registry);
    await daemon('POST', `/images/${testImage}/tag?repo=${registry}/private&tag=1`);
    const login = { username: 'robot', password: 'right-secret' };
    const headers = { 'x-registry-auth': Buffer.from(JSON.stringify(login)).toString('base64') };
    await daemonCall('POST', `/images/${registry}/private/push`, { query: { tag: '1' }, headers });
    await daemon('DELETE', `/images/${image}`);
  });
  afterAll(async () => {
    server.kill('SIGKILL');
    await daemon('DELETE', `/images/${image}`);
    await rm(directory, { recursive: true });
  });

  async function withRig<T>(config: Parameters<typeof createWith>[0], use: (rig: EngineRig) => Promise<T>): Promise<T> {
    const rig = new EngineRig(() => createWith({ ...config, socketPath: socketPath ?? '' }), dockerSubject());
    await rig.open();
    try {
      return await use(rig);
    } finally {
      await rig.close();
    }
  }

  async function rejection(config: Parameters<typeof createWith>[0]): Promise<string> {
    return await withRig(config, async (rig) => {
      const end = await rig.rejection(await rig.prepare({ image, command: ['true'] }));
      return end.kind === 'rejected' ? end.reason : JSON.stringify(end);
    });
  }

  it('rejects an image that needs a login when there is none, and says where to put one', async () => {
    const reason = await rejection({});
    expect(reason).toContain(`image ${image} cannot be pulled from ${registry}: `);
    expect(reason).toContain('has no login for it (options: registries)');
  });

  it('rejects a wrong password and never repeats it', async () => {
    const reason = await rejection({ registries: { [registry]: { username: 'robot', password: 'wrong-secret' } } });
    expect(reason).toContain(`image ${image} cannot be pulled from ${registry}: `);
    expect(reason).toContain('the login of robot');
    expect(reason).not.toContain('wrong-secret');
  });

  it.each(['robot', 'robot2'])(
    'pulls with the right login, also beside that of %s for another registry',
    async (name) => {
      await daemon('DELETE', `/images/${image}`);
      const registries = {
        'other.example.org': { username: name, password: 'x' },
        [registry]: { username: 'robot', password: 'right-secret' },
      };
      await withRig({ registries }, async (rig) => {
        const container = await rig.launch({ image, command: ['echo', 'pulled'] });
        expect(await container.end()).toEqual({ kind: 'exited', exitCode: 0 });
      });
    },
  );

  it('tells the digest that a start would come to: of the registry before the pull, and the same after it', async () => {
    await daemon('DELETE', `/images/${image}`);
    const of = (rig: EngineRig, name = image) => rig.engine.resolveImage?.(name, { accountID: 'tester' });
    await withRig({}, async (rig) => expect(await of(rig)).toBeUndefined());
    const login = { registries: { [registry]: { username: 'robot', password: 'right-secret' } } };
    await withRig(login, async (rig) => {
      const before = await of(rig);
      expect(before).toMatch(/^sha256:[0-9a-f]{64}$/);
      expect(await of(rig, `${registry}/private:none`)).toBeUndefined();
      await (await rig.launch({ image, command: ['true'] })).end();
      expect(await of(rig)).toBe(before);
      expect(await of(rig, `${registry}/private@${before}`)).toBe(before);
      // A tag that now names another image, as only the daemon knows so far.
      await makeImage(`${registry}/private:1`, ['ENV MOVED=1']);
      const moved = await of(rig);
      expect(moved).toMatch(/^sha256:[0-9a-f]{64}$/);
      expect(moved).not.toBe(before);
    });
    await daemon('DELETE', `/images/${image}`);
  });

  it("does not let an account use what another account's login has pulled", async () => {
    const login = { registries: { [registry]: { username: 'robot', password: 'right-secret' } } };
    await withRig({ accounts: { team: login } }, async (rig) => {
      const own = await rig.launch({ image, command: ['true'], accountID: 'team' });
      expect(await own.end()).toEqual({ kind: 'exited', exitCode: 0 });
      const other = await rig.prepare({ image, command: ['true'], accountID: 'others' });
      expect(await rig.rejection(other)).toMatchObject({
        kind: 'rejected',
        reason: expect.stringContaining('has no login for it'),
      });
    });
  });
});
