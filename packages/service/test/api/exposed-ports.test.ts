import { readFileSync } from 'node:fs';
import { request } from 'node:https';
import { join } from 'node:path';
import type { ContainerService } from '@sluice/client';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { openRig, PRINCIPAL, type Rig, SCOPE } from '../service-rig.ts';

let rig: Rig;
let service: ContainerService;
beforeAll(async () => {
  rig = await openRig({ config: { ports: { domain: 'svc.test', host: '127.0.0.1', port: 0 } } });
  service = rig.service.inProcess(PRINCIPAL);
});
afterAll(() => rig.close());

const ref = { ...SCOPE, id: 'web' };

/** Status and body of a GET to a public host, whose certificate must be signed by the service's own authority. */
function visit(host: string): Promise<{ status: number | undefined; text: string }> {
  const [name, port] = host.split(':');
  const ca = readFileSync(join(rig.root, 'authority/authority.pem'));
  return new Promise((resolve, reject) => {
    const options = { host: '127.0.0.1', port, servername: name, headers: { host }, ca, agent: false, path: '/x?y=1' };
    request(options, (reply) => {
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

it('an exposed port is reachable under its own host while the container runs, also after a restart, but not afterwards', async () => {
  const script = "require('http').createServer((q, s) => s.end('at ' + q.url)).listen(process.env.BAT_PORT_web)";
  const created = await service.containers.create(
    SCOPE,
    { instanceType: 'small', command: [process.execPath, '-e', script], ports: { web: { https: {} }, inner: {} } },
    { containerID: 'web' },
  );
  const host = created.ports?.web?.https?.host ?? '';
  expect(host).toMatch(/^[a-z2-7]{16}-web\.svc\.test:\d+$/);
  expect(created.ports?.inner).toEqual({ port: expect.any(Number) });
  await expect.poll(async () => (await service.containers.get(ref)).phase).toBe('Running');
  // Running means that the route exists; the application may not listen yet.
  await expect.poll(() => visit(host)).toEqual({ status: 200, text: 'at /x?y=1' });

  await rig.restart();
  service = rig.service.inProcess(PRINCIPAL);
  const again = (await service.containers.get(ref)).ports?.web?.https?.host ?? '';
  // The rig listens on another port after a restart; the name is the same.
  expect(again.split(':')[0]).toBe(host.split(':')[0]);
  const other = await service.containers.create(
    SCOPE,
    { instanceType: 'small', command: ['sleep', '100'], ports: { web: { https: {} } } },
    { containerID: 'other' },
  );
  const [, port] = (other.ports?.web?.https?.host ?? '').split(':');
  const now = `${host.split(':')[0]}:${port}`;
  expect(await visit(now)).toEqual({ status: 200, text: 'at /x?y=1' });
  await service.containers.cancel(ref);
  expect((await visit(now)).status).toBe(421);
  await service.containers.cancel({ ...SCOPE, id: 'other' });
});

it('a service without a port proxy rejects exposed ports', async () => {
  const plain = await openRig();
  const call = plain.service
    .inProcess(PRINCIPAL)
    .containers.create(SCOPE, { instanceType: 'small', command: ['true'], ports: { web: { https: {} } } });
  await expect(call).rejects.toMatchObject({ code: 'INVALID_ARGUMENT', reason: 'PORT_NOT_EXPOSABLE' });
  await plain.close();
});
