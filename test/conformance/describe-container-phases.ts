import { until } from '@sluice/client/contract';
import { describe, expect } from 'vitest';
import { clause } from './clause-test.ts';
import { ENDS, OTHER, type Rig, reach, start } from './conformance-rig.ts';

/** No phase comes after one of a higher rank. */
const RANK: Readonly<Record<string, number>> = { Creating: 0, Pending: 1, Running: 2, Exiting: 3, Canceling: 3 };

export function describeContainerPhases(rig: Rig): void {
  describe('container phases', () => {
    clause(
      [
        'Container phases > Creating',
        'Container phases > Pending',
        'Container phases > Running',
        'Container phases > Exiting',
        'Container phases > Succeeded',
        'Container phases > Exiting: exit successful',
      ],
      'a container goes forward through its phases to Succeeded',
      async () => {
        const seen: string[] = [];
        const { path } = await start(rig(), 'sleep 0.2');
        await until('the end', async () => {
          const { phase } = (await rig().call('GET', path)).json();
          if (seen.at(-1) !== phase) seen.push(String(phase));
          return ENDS.includes(String(phase));
        });
        const ranks = seen.map((phase) => RANK[phase] ?? 4);
        expect(ranks, seen.join(' → ')).toEqual([...new Set(ranks)].sort());
        expect(seen).toContain('Running');
        expect(seen.at(-1)).toBe('Succeeded');
      },
    );

    clause(
      ['Container phases > Failed', 'Container phases > Exiting: exit with non-zero code', 'Container phases > #2'],
      'an exit code that is not 0 is Failed, and the state tells it',
      async () => {
        for (const code of [1, 42, 255]) {
          const { path } = await start(rig(), `exit ${code}`);
          const ended = await reach(rig(), path, ...ENDS);
          expect([ended.phase, ended.state]).toEqual(['Failed', expect.stringContaining(String(code))]);
        }
        const { path } = await start(rig(), 'kill -9 $$');
        const killed = await reach(rig(), path, ...ENDS);
        expect([killed.phase, killed.state]).toEqual(['Failed', expect.stringMatching(/137|KILL/)]);
      },
    );

    clause(
      ['Container phases > Unknown', 'Container phases > Exiting: underlying system fault'],
      'a container that is lost with its node ends Unknown, with the reason',
      async () => {
        const token = rig().otherUserToken;
        const body = { instanceType: 'f-small', command: ['true'] };
        const path = `${OTHER}/containers`;
        const { id } = (await rig().call('POST', path, { body, token })).json();
        const ended = await until('the end', async () => {
          const container = (await rig().call('GET', `${path}/${String(id)}`, { token })).json();
          return ENDS.includes(String(container.phase)) && container;
        });
        expect([ended.phase, ended.state]).toEqual(['Unknown', expect.stringContaining('node failure')]);
      },
    );

    clause(
      [
        'Endpoints > POST /clusters/{clusterID}/accounts/{accountID}/containers/{containerID}:cancel',
        '11. Cancel a container > #1',
        'Container phases > Canceling',
        'Container phases > Canceled',
        'Container phases > a phase before the terminal ones: which phases accept cancel: not shown',
      ],
      'cancel stops a running container, keeps its log, and may be repeated',
      async () => {
        const { path } = await start(rig(), 'trap "" TERM; echo up; while :; do sleep 0.05; done');
        await until('output', async () => (await rig().call('GET', `${path}/logs`)).text === 'up\n');
        const answer = await rig().call('POST', `${path}:cancel`);
        expect([answer.status, answer.text]).toEqual([204, '']);
        expect(['Canceling', 'Canceled']).toContain((await rig().call('GET', path)).json().phase);
        expect((await rig().call('POST', `${path}:cancel`)).status).toBe(204);
        const canceled = await reach(rig(), path, ...ENDS);
        expect(canceled.phase).toBe('Canceled');
        expect((await rig().call('POST', `${path}:cancel`)).status).toBe(204);
        expect((await rig().call('GET', `${path}/logs`)).text).toBe('up\n');
      },
    );

    clause(
      ['Container phases > a phase before the terminal ones: which phases accept cancel: not shown'],
      'cancel is accepted at once after create, and rejected after another end',
      async () => {
        const young = await start(rig(), 'sleep 100');
        expect((await rig().call('POST', `${young.path}:cancel`)).status).toBe(204);
        expect((await reach(rig(), young.path, ...ENDS)).phase).toBe('Canceled');
        const over = await start(rig(), 'exit 0');
        const ended = await reach(rig(), over.path, 'Succeeded');
        const late = await rig().call('POST', `${over.path}:cancel`);
        expect([late.status, late.json().status]).toEqual([400, 'FAILED_PRECONDITION']);
        expect((await rig().call('GET', over.path)).json()).toEqual(ended);
      },
    );

    clause(
      [
        'Endpoints > DELETE /clusters/{clusterID}/accounts/{accountID}/containers/{containerID}',
        '12. Delete a container > #1',
        'Container phases > any: DELETE containers/<containerID>',
      ],
      'delete takes a container away in any phase, and frees its ID',
      async () => {
        for (const [script, phase] of [
          ['sleep 100', 'Running'],
          ['exit 0', 'Succeeded'],
        ] as const) {
          const { id, path } = await start(rig(), script);
          await reach(rig(), path, phase);
          const answer = await rig().call('DELETE', path);
          expect([answer.status, answer.text]).toEqual([204, '']);
          for (const [method, gone] of [
            ['GET', path],
            ['GET', `${path}/logs`],
            ['DELETE', path],
          ] as const) {
            expect((await rig().call(method, gone)).status).toBe(404);
          }
          const body = { instanceType: 'n-small', command: ['true'] };
          const again = await rig().call('POST', path.replace(`/${id}`, ''), { query: { containerID: id }, body });
          expect(again.status).toBe(200);
          await reach(rig(), path, 'Succeeded');
        }
      },
    );
  });
}
