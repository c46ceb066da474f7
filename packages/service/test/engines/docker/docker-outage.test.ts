import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { connectDocker } from '../../../src/engines/docker/docker-api.ts';
import { dockerConfigSchema } from '../../../src/engines/docker/docker-config.ts';
import { ensureDockerImage } from '../../../src/engines/docker/docker-image.ts';
import type { EngineRig } from '../engine-rig.ts';
import { createWith } from './create-engine.ts';
import { dockerRig, hasDocker, interpose } from './docker-rig.ts';

const PATIENCE = { timeout: 60_000, interval: 50 };
const sockets = {
  'Docker Engine': process.env.SLUICE_TEST_DOCKER_SOCKET,
  Podman: process.env.SLUICE_TEST_PODMAN_SOCKET,
};

describe.skipIf(!hasDocker && process.env.CI !== 'true')('a pull', () => {
  let rig: EngineRig;
  beforeAll(async () => {
    rig = dockerRig();
    await rig.open();
  });
  afterAll(() => rig.close());

  /** The name of an image in a registry on a free port of this machine. */
  async function imageOf(answer: RequestListener): Promise<string> {
    const server = createServer(answer).listen(0, '127.0.0.1');
    await once(server, 'listening');
    onTestFinished(() => {
      server.closeAllConnections();
      server.close();
    });
    return `127.0.0.1:${(server.address() as AddressInfo).port}/some/image:1`;
  }

  async function pullFrom(answer: RequestListener): Promise<unknown> {
    return await failureOf(await imageOf(answer));
  }

  async function failureOf(image: string): Promise<unknown> {
    const container = await rig.prepare({ command: ['true'], image, job: { pullTime: 1 } });
    const failure = await rig.engine.launch(container.launch).catch((error: unknown) => error);
    // As the engine's caller does.
    const end = { kind: 'fault', reason: String(failure) } as const;
    container.report(container.launch.key, { type: 'ended', endedAt: Date.now(), end });
    return failure;
  }

  it('from a registry where nothing listens is a fault, and not a rejection of the request', async () => {
    expect(await failureOf('127.0.0.1:1/some/image:1')).toMatchObject({
      code: 'FAULT',
      message: expect.stringMatching(/cannot be pulled from 127\.0\.0\.1:1: .*refused/),
    });
  });

  it.each([500, 502, 503])('from a registry that answers %i is a fault', async (status) => {
    const failure = await pullFrom((_, reply) => reply.writeHead(status).end());
    expect(failure).toMatchObject({ code: 'FAULT' });
  });

  it('from a registry that has too many requests is a fault', async () => {
    const failure = await pullFrom((_, reply) => {
      reply.writeHead(429, { 'content-type': 'application/json' });
      reply.end(JSON.stringify({ errors: [{ code: 'TOOMANYREQUESTS', message: 'rate limit' }] }));
    });
    expect(failure).toMatchObject({ code: 'FAULT' });
  });

  it.each([
    ['MANIFEST_UNKNOWN', 404],
    ['DENIED', 403],
  ])('from a registry that says %s is rejected', async (code, status) => {
    const failure = await pullFrom(({ url }, reply) => {
      const isProbe = url === '/v2/';
      reply.writeHead(isProbe ? 200 : status, { 'content-type': 'application/json' });
      reply.end(isProbe ? '{}' : JSON.stringify({ errors: [{ code, message: code.toLowerCase() }] }));
    });
    expect(failure).toMatchObject({ code: 'REJECTED' });
  });

  it('from a registry that sends nothing ends as a fault', async () => {
    const api = await connectDocker(sockets['Docker Engine'] ?? '');
    onTestFinished(() => api.close());
    const image = await imageOf(() => {});
    const options = {
      config: dockerConfigSchema.parse({}),
      accountID: 'tester',
      onProgress: () => {},
      pull: { policy: 'missing' as const, timeMs: 1 },
      signal: undefined,
    };
    await expect(ensureDockerImage(api, image, { ...options, stallMs: 300 })).rejects.toMatchObject({
      code: 'FAULT',
      message: expect.stringContaining('sent nothing for 0.3 s'),
    });
  });
});

describe.skipIf(!hasDocker && process.env.CI !== 'true')('an idle Docker engine', () => {
  it.each(Object.entries(sockets))(
    'says that %s no longer answers, and that it answers again',
    async (_, daemonPath) => {
      const directory = mkdtempSync(join(tmpdir(), 'sluice-answers-'));
      const socket = { path: join(directory, 'socket'), daemonPath };
      let leave = await interpose(socket, async () => {});
      const engine = createWith({ socketPath: socket.path });
      onTestFinished(async () => {
        await engine.close();
        await leave();
        rmSync(directory, { recursive: true, force: true });
      });
      const said: (string | undefined)[] = [];
      await engine.open({ report: () => {}, answers: (failure) => void said.push(failure) });
      await vi.waitUntil(() => said.length > 0, PATIENCE);
      expect(said).not.toContainEqual(expect.any(String));
      await leave();
      await vi.waitUntil(() => said.at(-1) !== undefined, PATIENCE);
      expect(said.at(-1)).toContain(`does not answer on ${socket.path}`);
      leave = await interpose(socket, async () => {});
      await vi.waitUntil(() => said.at(-1) === undefined, PATIENCE);
    },
  );
});
