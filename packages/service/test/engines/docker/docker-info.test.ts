import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { probeDocker } from '../../../src/engines/docker/docker-probe.ts';
import { createLocalEngine } from '../../../src/engines/local-engine.ts';
import { createWith } from './create-engine.ts';
import { hasDocker } from './docker-rig.ts';

const { DOCKER_HOST } = process.env;

/** A daemon without containers. Returns the path of its socket. */
async function serveDaemon(info: object): Promise<string> {
  const directory = mkdtempSync(join(tmpdir(), 'sluice-daemon-'));
  const path = join(directory, 'socket');
  const server = createServer(({ url = '' }, reply) => {
    if (url === '/_ping') return reply.writeHead(200, { 'api-version': '1.41' }).end('OK');
    if (url.startsWith('/v1.41/events')) return reply.writeHead(200).flushHeaders();
    const content = url === '/v1.41/info' ? info : url.startsWith('/v1.41/containers/json') ? [] : undefined;
    reply.writeHead(content ? 200 : 404, { 'content-type': 'application/json' }).end(JSON.stringify(content ?? {}));
  });
  server.listen(path);
  await once(server, 'listening');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
    rmSync(directory, { recursive: true, force: true });
  });
  return path;
}

afterEach(() => {
  if (DOCKER_HOST === undefined) delete process.env.DOCKER_HOST;
  else process.env.DOCKER_HOST = DOCKER_HOST;
});

describe('a daemon that does not limit memory', () => {
  const sink = { report: () => {} };

  it('is announced by the engine, also by the embedded one once it has used the daemon', async () => {
    const socketPath = await serveDaemon({ MemoryLimit: false });
    process.env.DOCKER_HOST = `unix://${socketPath}`;
    const local = createLocalEngine({ clusterID: 'here', maskedPaths: [] });
    const engines = [createWith({ socketPath }), local];
    for (const engine of engines) {
      onTestFinished(() => engine.close());
      await engine.open(sink);
    }
    await local.resolveImage?.('debian:12', { accountID: 'a' }).catch(() => {});
    for (const engine of engines) await expect.poll(() => engine.features).toContain('unlimited-memory');
  });

  it('is named by probeDocker, with what to do', async () => {
    process.env.DOCKER_HOST = `unix://${await serveDaemon({ MemoryLimit: false })}`;
    expect(await probeDocker()).toMatchObject({
      works: true,
      found: expect.stringContaining('not held to the memory'),
      advice: expect.stringContaining('cgroup_enable=memory'),
    });
  });
});

describe('a daemon that limits memory, or does not tell,', () => {
  it.each([{ MemoryLimit: true }, {}])('is not announced: %j', async (info) => {
    const socketPath = await serveDaemon(info);
    process.env.DOCKER_HOST = `unix://${socketPath}`;
    expect(await probeDocker()).toEqual({ engine: 'docker', works: true, found: `Docker Engine on ${socketPath}` });
    const engine = createWith({ socketPath });
    onTestFinished(() => engine.close());
    await engine.open({ report: () => {} });
    expect(engine.features).not.toContain('unlimited-memory');
  });
});

const hasMemoryCgroup = existsSync('/sys/fs/cgroup/memory');

it.skipIf(!hasMemoryCgroup || (!hasDocker && process.env.CI !== 'true'))(
  'Podman where the kernel has no memory cgroup is such a daemon',
  async () => {
    const directory = mkdtempSync(join(tmpdir(), 'sluice-podman-'));
    const socketPath = join(directory, 'socket');
    const places = ['--root', join(directory, 'root'), '--runroot', join(directory, 'run')];
    const podman = ['podman', ...places, 'system', 'service', '--time', '0', `unix://${socketPath}`];
    const hide = 'umount /sys/fs/cgroup/memory; exec "$@"';
    const child = spawn('unshare', ['--mount', 'sh', '-c', hide, 'sh', ...podman], { stdio: 'ignore' });
    onTestFinished(async () => {
      child.kill();
      if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
      rmSync(directory, { recursive: true, force: true });
    });
    process.env.DOCKER_HOST = `unix://${socketPath}`;
    await vi.waitUntil(() => existsSync(socketPath), { timeout: 120_000 });
    expect(await probeDocker()).toMatchObject({ works: true, found: expect.stringMatching(/^Podman .*not held to/) });
  },
);
