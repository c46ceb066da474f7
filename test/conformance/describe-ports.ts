import { until } from '@sluice/client/contract';
import { describe, expect } from 'vitest';
import { clause } from './clause-test.ts';
import { type Fields, NORTH, type Rig, reach, start } from './conformance-rig.ts';

export function describePorts(rig: Rig): void {
  describe('ports', () => {
    clause(
      [
        'Container > ports',
        'Container > #6',
        'Container > #7',
        'Container > ports.<port-name>.port',
        '7. Create a container > #6',
      ],
      'a named port gets a number, which is in the environment and in the arguments',
      async () => {
        const command = [
          'sh',
          '-c',
          'printf "%s %s %s" "$BAT_PORT_web" "$1" "$2"',
          'sh',
          '$BAT_PORT_web',
          '${BAT_PORT_api-2}',
        ];
        const { path, created } = await start(rig(), '', { command, ports: { web: {}, 'api-2': {} } });
        const ports = created.ports as Record<string, Fields>;
        const [web, api] = [ports.web?.port, ports['api-2']?.port];
        for (const port of [web, api]) {
          expect(port).toSatisfy((it: unknown) => Number.isInteger(it) && Number(it) > 0 && Number(it) < 65_536);
        }
        expect(web).not.toBe(api);
        expect((await rig().call('GET', path)).json().ports).toEqual(ports);
        await reach(rig(), path, 'Succeeded');
        expect((await rig().call('GET', `${path}/logs`)).text).toBe(`${web} ${web} ${api}`);
      },
    );

    clause(['Container > #6', 'Limits > Identifier character set'], 'a port name is of [a-z0-9-]', async () => {
      for (const name of ['Web', 'a_b', 'a.b', '', 'é']) {
        const body = { instanceType: 'n-small', command: ['true'], ports: { [name]: {} } };
        const answer = await rig().call('POST', `${NORTH}/containers`, { body });
        expect([answer.status, answer.json().code], JSON.stringify(name)).toEqual([400, 400]);
      }
    });

    clause(['Container > #7'], 'two containers that run at once have different ports', async () => {
      const made = await Promise.all(Array.from({ length: 20 }, () => start(rig(), 'sleep 100', { ports: { p: {} } })));
      const ports = made.map(({ created }) => (created.ports as Record<string, Fields>).p?.port);
      expect(new Set(ports).size).toBe(20);
      await Promise.all(made.map(({ path }) => rig().call('DELETE', path)));
    });
  });
  describeExposed(rig);
}

function describeExposed(rig: Rig): void {
  describe('exposed ports', () => {
    clause(
      [
        'Container > ports.<port-name>.https',
        'Container > ports.<port-name>.https.host',
        '7. Create a container > #4',
        '8. Get a container > #1',
        'Container phases > Running',
        'What the service does > #3',
      ],
      'an exposed port is an HTTPS service under its host while the container runs, and not after',
      async () => {
        const server =
          'require("node:http").createServer((q,s)=>s.end("hello from "+q.url)).listen(process.env.BAT_PORT_web,"127.0.0.1")';
        const command = [process.execPath, '-e', server];
        const { path, created } = await start(rig(), '', { command, ports: { web: { https: {} } } });
        const { https } = (created.ports as Record<string, Fields>).web ?? {};
        const host = String((https as Fields | undefined)?.host);
        expect(host).toMatch(/^[a-z0-9-]+\.ports\.test:\d+$/);
        const running = await reach(rig(), path, 'Running');
        expect(running.ports).toEqual(created.ports);
        await until(
          'the web application',
          async () => (await rig().throughProxy(host, '/a/b')).text === 'hello from /a/b',
        );
        await rig().call('POST', `${path}:cancel`);
        await reach(rig(), path, 'Canceled');
        expect((await rig().throughProxy(host, '/')).status).toBe(421);
      },
    );
  });
}
