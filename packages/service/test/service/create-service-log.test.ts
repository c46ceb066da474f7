import { request } from 'node:http';
import { expect, onTestFinished, test } from 'vitest';
import { createServiceLog } from '../../src/service/create-service-log.ts';
import { createService } from '../../src/service/service.ts';
import { openRig, PRINCIPAL, SCOPE } from '../service-rig.ts';

test('createServiceLog redacts secrets by name, and the query of a URL', () => {
  const lines: string[] = [];
  const log = createServiceLog({ to: { write: (line) => void lines.push(line) } });
  log.info({ url: '/user/api/login?email=a&password=open', user: { password: 'open' }, token: 'open' }, 'request');
  expect(lines.join('')).not.toContain('open');
  expect(lines.join('')).toContain('/user/api/login?(left out)');
});

test('createServiceLog logs WebDAV requests with an ID, without file names', async () => {
  const rig = await openRig();
  onTestFinished(() => rig.close());
  const lines: string[] = [];
  await rig.service.close();
  const log = createServiceLog({ to: { write: (line) => void lines.push(line) } });
  const service = await createService({ config: rig.config, clock: rig.clock, engines: rig.engines, log });
  onTestFinished(() => service.close());
  const { id, service: login } = await service.inProcess(PRINCIPAL).volumes.create(SCOPE, { transfer: true });
  const { port } = await service.listen({ host: '127.0.0.1', port: 0 });
  const path = `/dav/${SCOPE.clusterID}/${SCOPE.accountID}/${id}/private-name`;
  const requestId = await new Promise((resolve) => {
    const auth = `${login?.username}:${login?.password}`;
    request({ host: '127.0.0.1', port, path, auth, method: 'PUT', agent: false }, (reply) => {
      reply.resume().once('close', () => resolve(reply.headers['x-request-id']));
    }).end('text');
  });
  const volume = `${SCOPE.clusterID}/${SCOPE.accountID}/${id}`;
  const expected = { reqId: requestId, operation: 'webdav', method: 'PUT', status: 201, volume };
  const logged = () => lines.map((text) => JSON.parse(text));
  await expect.poll(() => logged()).toContainEqual(expect.objectContaining(expected));
  expect(lines.join('')).not.toContain('private-name');
});
