import { createServer, type Socket } from 'node:net';
import { createHttpService, type HttpServiceOptions, type VolumeFiles } from '@sluice/client';
import { expect, it, onTestFinished } from 'vitest';
import { instantClock } from '../rig/instant-clock.ts';
import { REF, SCOPE } from '../rig/with-service.ts';

const TIMEOUTS = { connectMs: 100, replyMs: 100, bodyMs: 100 };

/** A server that accepts every connection, reads what is sent and never replies; returns its address. */
async function openSilentServer(): Promise<string> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => {}).resume();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  const address = server.address();
  return `127.0.0.1:${typeof address === 'object' ? address?.port : undefined}`;
}

function open(options: HttpServiceOptions) {
  const service = createHttpService({ clock: instantClock(), timeouts: TIMEOUTS, ...options });
  onTestFinished(() => service.close());
  return service;
}

async function collect(items: AsyncIterable<unknown>): Promise<void> {
  for await (const _ of items);
}

it('a call to a server that accepts and never replies ends with NO_REPLY', async () => {
  const at = await openSilentServer();
  const { discovery, containers, volumes } = open({ baseUrl: `http://${at}`, token: 'tok' });
  const login = { username: 'u', password: 'p', address: { webdav: `http://${at}/dav/x1` } };
  const files: VolumeFiles = volumes.files(REF, login);
  const calls: Record<string, Promise<unknown>> = {
    accounts: discovery.listAccounts('-'),
    instanceTypes: discovery.listInstanceTypes('-'),
    image: discovery.resolveImage!(SCOPE, 'debian'),
    create: containers.create(SCOPE, { instanceType: 't' }),
    get: containers.get(REF),
    list: collect(containers.list(SCOPE)),
    cancel: containers.cancel(REF),
    delete: containers.delete(REF),
    createVolume: volumes.create(SCOPE),
    listVolumes: collect(volumes.list(SCOPE)),
    deleteVolume: volumes.delete(REF),
    undeleteVolume: volumes.undelete(REF),
    stat: files.stat('a'),
    listFiles: files.list('a'),
    read: files.read('a'),
    write: files.write('a', Buffer.from('text')),
    link: files.link('a', 'b'),
    makeDirectory: files.makeDirectory('a'),
    move: files.move('a', 'b'),
    remove: files.remove('a'),
  };
  const names = Object.keys(calls);
  const ends = await Promise.allSettled(Object.values(calls));
  const codes = ends.map((end) => (end.status === 'rejected' ? end.reason.code : 'answered'));
  expect(Object.fromEntries(codes.map((code, index) => [names[index], code]))).toEqual(
    Object.fromEntries(names.map((name) => [name, 'NO_REPLY'])),
  );
});

it('a server that accepts and never answers the handshake of TLS is UNREACHABLE', async () => {
  const { containers } = open({ baseUrl: `https://${await openSilentServer()}`, token: 'tok' });
  await expect(containers.get(REF)).rejects.toMatchObject({ code: 'UNREACHABLE' });
});
