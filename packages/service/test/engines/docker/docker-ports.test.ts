import { readFileSync } from 'node:fs';
import { request } from 'node:https';
import { join } from 'node:path';
import type { ContainerService } from '@sluice/client';
import { until } from '@sluice/client/contract';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openRig, type Rig } from '../../service-rig.ts';

const { SLUICE_TEST_DOCKER_SOCKET: socketPath, SLUICE_TEST_PODMAN_SOCKET: podmanPath } = process.env;
const { SLUICE_TEST_DOCKER_IMAGE: image = 'sluice-test:1' } = process.env;

const DAEMONS = [
  ['Docker', socketPath],
  ['Podman', podmanPath],
] as const;

/** An HTTP server in the test image's own shell: each connection is answered before it has asked. */
const answering = (port: string, text: string) =>
  `echo up; while :; do printf 'HTTP/1.1 200 OK\\r\\nContent-Length: ${text.length}\\r\\nConnection: close\\r\\n\\r\\n${text}' | nc -l -p ${port}; done`;

describe.each(DAEMONS)('two accounts on one machine with %s', (_, path) => {
  const isHere = path !== undefined || process.env.CI === 'true';
  describe.skipIf(!isHere)('and exposed ports', () => {
    let rig: Rig;
    let services: Record<'mine' | 'yours', ContainerService>;
    beforeAll(async () => {
      const instanceTypes = [{ id: 'small', cpu: 1, memory: '1GB' }];
      const options = { socketPath: path, pollInterval: '500ms' };
      const clusters = [{ id: 'one', engine: 'docker', accounts: ['mine', 'yours'], instanceTypes, options }];
      rig = await openRig({ config: { clusters, ports: { domain: 'svc.test', host: '127.0.0.1', port: 0 } } });
      const of = (accountID: string) =>
        rig.service.inProcess({ userId: accountID, accounts: [{ clusterID: 'one', accountID }] });
      services = { mine: of('mine'), yours: of('yours') };
    });
    afterAll(() => rig.close());

    async function start(accountID: 'mine' | 'yours', id: string, script: string) {
      const ref = { clusterID: 'one', accountID, id };
      const service = services[accountID];
      const command = ['sh', '-c', script];
      const ports = { web: { https: {} } };
      const created = await service.containers.create(
        { clusterID: 'one', accountID },
        { instanceType: 'small', image, command, ports },
        { containerID: id },
      );
      await until(`${id} runs`, async () => (await service.containers.get(ref)).phase === 'Running');
      const said = async () => {
        const parts: Buffer[] = [];
        for await (const bytes of service.containers.logs(ref, {})) parts.push(Buffer.from(bytes));
        return Buffer.concat(parts).toString();
      };
      const remove = () => service.containers.delete(ref);
      return { host: created.ports?.web?.https?.host ?? '', port: created.ports?.web?.port ?? 0, said, remove };
    }

    it('an account does not speak for the port of another, and gets nothing of its requests', async () => {
      const victim = await start('mine', 'victim', 'while :; do sleep 1; done');
      expect(await visit(rig, victim.host)).toMatchObject({ status: 503 });
      const thief = await start('yours', 'thief', answering(String(victim.port), 'stolen'));
      await until('the thief listens', async () => (await thief.said()).includes('up'));
      for (let i = 0; i < 5; i++) {
        expect(await visit(rig, victim.host)).toMatchObject({ status: 503 });
      }
      expect(await thief.said()).toBe('up\n');
      await Promise.all([victim.remove(), thief.remove()]);
    });

    it('an account has its own port', async () => {
      const web = await start('yours', 'web', answering('$BAT_PORT_web', 'mine'));
      await until('it answers', async () => (await visit(rig, web.host)).status === 200);
      await until('it has what it was asked', async () => (await web.said()).includes('secret=1'));
      await web.remove();
    });
  });
});

function visit(rig: Rig, host: string): Promise<{ status: number | undefined; text: string }> {
  const [name, port] = host.split(':');
  const ca = readFileSync(join(rig.root, 'authority/authority.pem'));
  const headers = { host, cookie: 'secret=1' };
  return new Promise((resolve, reject) => {
    request({ host: '127.0.0.1', port, servername: name, headers, ca, agent: false }, (reply) => {
      let text = '';
      reply.on('data', (bytes: Buffer) => {
        text += bytes.toString();
      });
      reply.once('error', reject);
      reply.once('end', () => resolve({ status: reply.statusCode, text }));
    })
      .once('error', reject)
      .end();
  });
}
