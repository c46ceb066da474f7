import { mkdtemp, rm } from 'node:fs/promises';
import { createServer as createTcpServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createHttpService, type HttpServiceOptions } from '@sluice/client';
import { until } from '@sluice/client/contract';
import { describe, expect, it, onTestFinished } from 'vitest';
import { instantClock } from '../rig/instant-clock.ts';
import { json, scriptedServer } from '../rig/scripted-server.ts';
import { CONTAINER, outcome, REF, SCOPE, withService } from '../rig/with-service.ts';

function client(options: Omit<HttpServiceOptions, 'token' | 'login'>) {
  const service = createHttpService({ token: 'tok', clock: instantClock(), ...options });
  onTestFinished(() => service.close());
  return service;
}

describe('connections', () => {
  it('create: a rejected connection is UNREACHABLE', async () => {
    const server = await scriptedServer(() => {});
    await server.close();
    const service = client({ baseUrl: server.url });
    await expect(service.containers.create(SCOPE, { instanceType: 't' })).rejects.toMatchObject({
      code: 'UNREACHABLE',
    });
    await expect(service.containers.get(REF)).rejects.toMatchObject({ code: 'UNREACHABLE' });
  });

  it('create: a name that does not resolve and a socket that is not there are UNREACHABLE', async () => {
    for (const options of [
      { baseUrl: 'http://name.invalid' },
      { baseUrl: 'http://localhost', socketPath: join(tmpdir(), 'no-such-socket') },
    ]) {
      const created = client(options).containers.create(SCOPE, { instanceType: 't' });
      await expect(created).rejects.toMatchObject({ code: 'UNREACHABLE' });
    }
  });

  it('create: a TLS handshake that fails is UNREACHABLE', async () => {
    const plain = await scriptedServer((_, reply) => json(reply, CONTAINER));
    onTestFinished(() => plain.close());
    const service = client({ baseUrl: plain.url.replace('http:', 'https:') });
    await expect(service.containers.create(SCOPE, { instanceType: 't' })).rejects.toMatchObject({
      code: 'UNREACHABLE',
    });
  });

  it('create: a connection that closes after the request is NO_REPLY', async () => {
    const { service } = await withService((_, reply) => void reply.destroy());
    await expect(service.containers.create(SCOPE, { instanceType: 't' })).rejects.toMatchObject({ code: 'NO_REPLY' });
  });

  it('get: a reply that is not HTTP is INVALID_REPLY', async () => {
    const server = createTcpServer((socket) => socket.once('data', () => socket.end('SSH-2.0-OpenSSH_9.2\r\n')));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => void server.close());
    const address = server.address();
    const port = typeof address === 'object' ? address?.port : undefined;
    const service = client({ baseUrl: `http://127.0.0.1:${port}` });
    await expect(service.containers.get(REF)).rejects.toMatchObject({ code: 'INVALID_REPLY' });
  });

  it('get: silence before the headers, within the body, and a body that drips are NO_REPLY', async () => {
    const timeouts = { replyMs: 150, bodyMs: 150 };
    const { service } = await withService(
      (seen, reply) => {
        if (seen.url.includes('silent')) return;
        reply.writeHead(200, { 'content-length': '100000' }).write('{');
        if (seen.url.includes('stuck')) return;
        const drip = setInterval(() => (reply.destroyed ? clearInterval(drip) : reply.write(' ')), 20);
      },
      { timeouts },
    );
    for (const id of ['silent', 'stuck', 'drip']) {
      const created = service.containers.create(SCOPE, { instanceType: 't' }, { containerID: id });
      await expect(created, id).rejects.toMatchObject({ code: 'NO_REPLY' });
    }
  });

  it('signal: ends a call that waits for its reply, and a wait between tries', async () => {
    const stop = new AbortController();
    const { service } = await withService(() => stop.abort());
    await expect(service.containers.get(REF, { signal: stop.signal })).rejects.toMatchObject({ code: 'ABORTED' });
    const later = new AbortController();
    const down = await withService((_, reply) => {
      json(reply, {}, 503);
      later.abort();
    });
    expect(await outcome(down.service.containers.get(REF, { signal: later.signal }))).toMatchObject({
      code: 'ABORTED',
    });
    expect(down.server.seen).toHaveLength(1);
  });

  it('socketPath: goes through the socket, with the path and host of baseUrl', async () => {
    const directory = await mkdtemp(join(tmpdir(), 'sluice-client-'));
    onTestFinished(() => rm(directory, { recursive: true }));
    const socketPath = join(directory, 's');
    const server = await scriptedServer((_, reply) => json(reply, CONTAINER), { socketPath });
    onTestFinished(() => server.close());
    const service = client({ baseUrl: 'http://sluice.local/under/', socketPath });
    await service.containers.get(REF);
    expect(server.seen[0]).toMatchObject({ headers: { host: 'sluice.local' } });
    expect(server.seen[0]?.url).toBe('/under/api/v1rc1/clusters/c1/accounts/a1/containers/x1');
  });

  it('keep-alive: many calls in a row share their connections', async () => {
    const ports = new Set<number | undefined>();
    const { service } = await withService((_, reply) => {
      ports.add(reply.socket?.remotePort);
      json(reply, CONTAINER);
    });
    for (let i = 0; i < 20; i++) await service.containers.get(REF);
    // Two: the second call may begin in the same turn in which the first frees its connection.
    expect(ports.size).toBeLessThanOrEqual(2);
  });

  it('close: ends what is under way, which may have been done, and what comes later', async () => {
    const { service, server } = await withService(() => {});
    const created = outcome(service.containers.create(SCOPE, { instanceType: 't' }));
    await until('the request', async () => server.seen.length === 1);
    await service.close();
    await service.close();
    expect(await created).toMatchObject({ code: 'ABORTED' });
    await expect(service.containers.get(REF)).rejects.toMatchObject({ code: 'ABORTED' });
    expect(server.seen).toHaveLength(1);
  });

  it.each(['ftp://x', 'not a url', 'http://user:pass@x/', 'http://x/?q=1', 'http://x/#f'])(
    'createHttpService: rejects the address %s without repeating it',
    (baseUrl) => {
      expect(() => createHttpService({ baseUrl, token: 't' })).toThrow(TypeError);
      expect(() => createHttpService({ baseUrl, token: 't' })).not.toThrow(/user:pass/);
    },
  );

  it('watch: knows of no changes', async () => {
    const { service } = await withService(() => {});
    expect(service.watch(() => {})).toBeUndefined();
  });
});
