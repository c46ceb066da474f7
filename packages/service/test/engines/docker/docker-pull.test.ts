import { once } from 'node:events';
import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { EngineRig } from '../engine-rig.ts';
import { createWith } from './create-engine.ts';
import { daemon, dockerRig, dockerSubject, hasDocker, makeImage } from './docker-rig.ts';

const { SLUICE_TEST_DOCKER_REGISTRY: registry = '', SLUICE_TEST_PODMAN_SOCKET: podmanSocket } = process.env;
const ACCOUNT = { accountID: 'tester' };
const MISSING = '127.0.0.1:1/some/image:1';

describe.skipIf(!hasDocker && process.env.CI !== 'true')('pull policy on Docker', () => {
  const image = `${registry}/pulled:1`;
  let rig: EngineRig;
  beforeAll(async () => {
    rig = dockerRig();
    await rig.open();
  });
  afterAll(async () => {
    await daemon('DELETE', `/images/${image}`);
    await rig.close();
  });

  async function outputOf(pull: 'always' | 'missing' | 'never'): Promise<string> {
    const container = await rig.run('echo moved=$MOVED', { image, job: { docker: { pull } } });
    expect(await container.end()).toEqual({ kind: 'exited', exitCode: 0 });
    return await container.text();
  }

  it('uses what the machine has, or what the registry has', async () => {
    await makeImage(image, ['ENV MOVED=yes']);
    const local = await rig.engine.resolveImage?.(image, ACCOUNT);
    const remote = await rig.engine.resolveImage?.(image, { ...ACCOUNT, fresh: true });
    expect(remote).not.toBe(local);
    expect(await outputOf('never')).toBe('moved=yes\n');
    expect(await outputOf('missing')).toBe('moved=yes\n');
    expect(await outputOf('always')).toBe('moved=\n');
    expect(await rig.engine.resolveImage?.(image, ACCOUNT)).toBe(remote);
  });

  it('gives no digest in place of that of a registry that does not answer', async () => {
    await expect(rig.engine.resolveImage?.(MISSING, { ...ACCOUNT, fresh: true })).rejects.toMatchObject({
      code: 'UNAVAILABLE',
    });
  });

  it('rejects an image that the machine does not have and that may not be pulled', async () => {
    const container = await rig.prepare({ command: ['true'], image: MISSING, job: { docker: { pull: 'never' } } });
    expect(await rig.rejection(container)).toMatchObject({
      reason: `image ${MISSING} is not on the machine, and 'pull: never' forbids to pull it`,
    });
  });

  it('rejects never where the registry checks the logins of accounts', async () => {
    const accounts = { team: { registries: { [registry]: { username: 'robot', password: 'x' } } } };
    const other = new EngineRig(
      () => createWith({ accounts, socketPath: process.env.SLUICE_TEST_DOCKER_SOCKET ?? '' }),
      dockerSubject(),
    );
    await other.open();
    onTestFinished(() => other.close());
    const container = await other.prepare({ command: ['true'], image, job: { docker: { pull: 'never' } } });
    expect(await other.rejection(container)).toMatchObject({ reason: expect.stringContaining('checks every start') });
  });

  it('repeats a pull until the registry answers, and says so', async () => {
    let isAway = true;
    const server = createServer((from, reply) => {
      if (isAway) return void reply.writeHead(503).end();
      const onward = request(`http://${registry}${from.url}`, { method: from.method }, (answer) => {
        reply.writeHead(answer.statusCode ?? 502, answer.headers);
        answer.pipe(reply);
      });
      from.pipe(onward);
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const name = `127.0.0.1:${(server.address() as AddressInfo).port}/pulled:1`;
    onTestFinished(async () => {
      await daemon('DELETE', `/images/${name}`);
      server.closeAllConnections();
      server.close();
    });
    const container = await rig.prepare({ command: ['echo', 'ran'], image: name });
    const launched = rig.engine.launch(container.launch);
    const reasons = () => container.observations.map((one) => (one.type === 'pending' ? one.reason : ''));
    await expect
      .poll(reasons)
      .toContainEqual(expect.stringMatching(/cannot be pulled from .*503.*; trying again in 1 s$/));
    isAway = false;
    await launched;
    expect(await container.end()).toEqual({ kind: 'exited', exitCode: 0 });
  });
});

const ENGINES = [
  ['Docker', process.env.SLUICE_TEST_DOCKER_SOCKET],
  ['Podman', podmanSocket],
] as const;

describe.each(ENGINES)('a pull by %s from a registry that is away', (_name, socketPath) => {
  const isMissing = socketPath === undefined && process.env.CI !== 'true';

  it.skipIf(isMissing)('is repeated as long as the client waits, and ends with the container', async () => {
    const rig = new EngineRig(() => createWith({ socketPath: socketPath ?? '' }), dockerSubject());
    await rig.open();
    onTestFinished(() => rig.close());
    const limited = await rig.prepare({ command: ['true'], image: MISSING, job: { pullTime: 1 } });
    await expect(rig.engine.launch(limited.launch)).rejects.toMatchObject({ code: 'FAULT' });
    limited.report(limited.launch.key, { type: 'ended', endedAt: 0, end: { kind: 'fault', reason: '' } });
    const unwanted = new AbortController();
    const canceled = await rig.prepare({ command: ['true'], image: MISSING });
    const launched = rig.engine.launch(canceled.launch, { signal: unwanted.signal });
    await expect.poll(() => JSON.stringify(canceled.observations)).toContain('trying again');
    unwanted.abort();
    await expect(launched).rejects.toThrow();
    canceled.report(canceled.launch.key, { type: 'ended', endedAt: 0, end: { kind: 'stopped' } });
  });
});
