import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { request } from 'node:https';
import { join } from 'node:path';
import type { Container, ContainerService } from '@sluice/client';
import { until } from '@sluice/client/contract';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { hasNamespaces } from '../engines/has-namespaces.ts';
import { FakeEngine } from '../fakes/fake-engine.ts';
import { openRig, PRINCIPAL, type Rig, SCOPE } from '../service-rig.ts';

/** Listens once the file `go` is in its volume: a container that is slow to come up. */
const SLOW = `
const serve = () => require('node:http').createServer((q, s) => s.end('mine')).listen(process.env.BAT_PORT_web);
const watcher = process.argv[1] === 'child' ? serve() : require('node:fs').watch('/v', () => {
  watcher.close();
  require('node:child_process').spawn(process.execPath, ['-e', process.env.SLOW, 'child'], { stdio: 'inherit' });
});
console.log('up');`;
/** Listens on another container's port, answers before it is asked, and keeps what it is sent. */
const THIEF = `
require('node:net').createServer((socket) => {
  socket.on('error', () => {}).on('data', (bytes) => console.log(bytes.toString()));
  socket.write('HTTP/1.1 200 OK\\r\\nContent-Length: 6\\r\\nConnection: close\\r\\n\\r\\nstolen');
}).listen(Number(process.argv[1]), '::', () => console.log('listening'));`;

describe.skipIf(!hasNamespaces && process.env.CI !== 'true')(
  'a container that does not listen on its exposed port',
  () => {
    let rig: Rig;
    let service: ContainerService;
    beforeAll(async () => {
      rig = await openRig({ config: { ports: { domain: 'svc.test', host: '127.0.0.1', port: 0 } } });
      service = rig.service.inProcess(PRINCIPAL);
      await service.volumes.create(SCOPE, { volumeID: 'flags' });
    });
    afterAll(() => rig.close());

    async function start(containerID: string): Promise<{ host: string; port: number }> {
      const created: Container = await service.containers.create(
        SCOPE,
        {
          instanceType: 'small',
          command: [process.execPath, '-e', SLOW],
          ports: { web: { https: {} } },
          volumeMounts: { [`flags:${containerID}:dir`]: '/v' },
          envs: { SLOW },
        },
        { containerID },
      );
      await until('it is up', async () => (await said(containerID)).includes('up'));
      return { host: created.ports?.web?.https?.host ?? '', port: created.ports?.web?.port ?? 0 };
    }

    async function said(id: string): Promise<string> {
      const parts: Buffer[] = [];
      for await (const bytes of service.containers.logs({ ...SCOPE, id }, {})) parts.push(Buffer.from(bytes));
      return Buffer.concat(parts).toString();
    }

    it('is not spoken for by another container, which gets nothing of the request', async () => {
      const { host, port } = await start('slow');
      expect(await visit(rig, host)).toMatchObject({ status: 503 });
      const command = [process.execPath, '-e', THIEF, String(port)];
      await service.containers.create(SCOPE, { instanceType: 'small', command }, { containerID: 'thief' });
      await until('the thief listens', async () => (await said('thief')).includes('listening'));
      for (let i = 0; i < 5; i++) {
        expect(await visit(rig, host)).toMatchObject({ status: 503, text: expect.stringContaining('another program') });
      }
      expect(await upgrade(rig, host)).toMatch(/^HTTP\/1.1 503 /);
      expect(await said('thief')).toBe('listening\n');

      await service.containers.delete({ ...SCOPE, id: 'thief' });
      writeFileSync(join(rig.root, 'clusters/one/volumes/mine/flags/slow/go'), '');
      // By a process further down.
      await until('its own application answers', async () => (await visit(rig, host)).status === 200);
      expect(await visit(rig, host)).toEqual({ status: 200, text: 'mine' });
    });

    it('is not spoken for by a program outside of all containers', async () => {
      const { host, port } = await start('other');
      const seen: unknown[] = [];
      const server = createServer((asked, reply) => {
        seen.push(asked.headers);
        reply.end('stolen');
      });
      onTestFinished(() => void server.close());
      await once(server.listen(port, '127.0.0.1'), 'listening');
      expect(await visit(rig, host)).toMatchObject({ status: 503 });
      expect(seen).toEqual([]);
    });
  },
);

describe('a container whose processes this service cannot see', () => {
  it.each([
    ['has its port served where the service has one account', ['mine'], 200],
    ['does not where there are several', ['mine', 'yours'], 503],
  ] as const)('%s', async (_, accounts, status) => {
    const engine = Object.assign(new FakeEngine(), { findProcess: async () => undefined });
    const instanceTypes = [{ id: 'small', cpu: 1, memory: '1GB' }];
    const clusters = [{ id: 'one', engine: 'fake', accounts: [...accounts], instanceTypes }];
    const ports = { domain: 'svc.test', host: '127.0.0.1', port: 0 };
    const rig = await openRig({ engines: { fake: () => engine }, config: { clusters, ports } });
    onTestFinished(() => rig.close());
    const service = rig.service.inProcess(PRINCIPAL);
    const spec = { instanceType: 'small', ports: { web: { https: {} } } };
    const { ports: made } = await service.containers.create(SCOPE, spec, { containerID: 'web' });
    await until('it is launched', async () => engine.launched.size === 1);
    const server = createServer((_asked, reply) => reply.end('served'));
    onTestFinished(() => void server.close());
    await once(server.listen(made?.web?.port, '127.0.0.1'), 'listening');
    engine.run('web');
    expect((await visit(rig, made?.web?.https?.host ?? '')).status).toBe(status);
  });
});

function optionsFor(rig: Rig, host: string) {
  const [name, port] = host.split(':');
  const ca = readFileSync(join(rig.root, 'authority/authority.pem'));
  return {
    host: '127.0.0.1',
    port,
    servername: name,
    headers: { host, cookie: 'secret=1' },
    ca,
    agent: false as const,
  };
}

function visit(rig: Rig, host: string): Promise<{ status: number | undefined; text: string }> {
  return new Promise((resolve, reject) => {
    request(optionsFor(rig, host), (reply) => {
      let text = '';
      reply.on('data', (bytes: Buffer) => {
        text += bytes.toString();
      });
      reply.once('end', () => resolve({ status: reply.statusCode, text }));
    })
      .once('error', reject)
      .end();
  });
}

/** The first line of what a WebSocket's handshake is answered with. */
function upgrade(rig: Rig, host: string): Promise<string> {
  const options = optionsFor(rig, host);
  const headers = { ...options.headers, connection: 'Upgrade', upgrade: 'websocket' };
  return new Promise((resolve, reject) => {
    request({ ...options, headers }, (reply) => {
      reply.resume();
      resolve(`HTTP/1.1 ${reply.statusCode} ${reply.statusMessage}`);
    })
      .once('upgrade', (_, socket) => {
        socket.destroy();
        resolve('HTTP/1.1 101');
      })
      .once('error', reject)
      .end();
  });
}
