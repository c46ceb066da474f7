import { describe, expect } from 'vitest';
import { clause } from './clause-test.ts';
import { ENDS, freshId, items, makeVolume, NORTH, type Rig, reach, SOUTH, start } from './conformance-rig.ts';

const PHASES = ['Creating', 'Pending', 'Running', 'Exiting', 'Succeeded', 'Failed', 'Unknown', 'Canceling', 'Canceled'];
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/;

export function describeContainerFields(rig: Rig): void {
  describe('creating and getting containers', () => {
    describeGiven(rig);
    describeSet(rig);
    describeIds(rig);
    describeCluster(rig);
  });
}

function describeGiven(rig: Rig): void {
  clause(
    [
      'Endpoints > POST /clusters/{cluster}/accounts/{accountID}/containers',
      'Endpoints > GET /clusters/{clusterID}/accounts/{accountID}/containers/{containerID}',
      'Endpoints > #2',
      '7. Create a container > #3',
      '7. Create a container > #6',
      'Container > #1',
      'Container > instanceType',
      'Container > command',
      'Container > volumeMounts',
      'Container > labels',
      'Container > envs',
      'Container > #3',
      'Container > id',
      'Container > clusterID',
      'Container > accountID',
      'What the service does > #1',
      'What the service does > #7',
    ],
    'what the client gives comes back from create and from get',
    async () => {
      const volume = await makeVolume(rig());
      const given = {
        instanceType: 'n-small',
        command: ['sh', '-c', 'exit 0'],
        volumeMounts: { [volume.id]: '/mnt/v' },
        labels: { team: 'vision', note: 'größer 日本' },
        envs: { GREETING: 'hello world', EMPTY: '' },
      };
      const { path, created, id } = await start(rig(), '', given);
      expect(created).toMatchObject({ ...given, id, clusterID: 'north', accountID: 'lab' });
      const got = await rig().call('GET', path);
      expect(got.status).toBe(200);
      expect(got.json()).toMatchObject({ ...given, id, clusterID: 'north', accountID: 'lab' });
      await reach(rig(), path, ...ENDS);
    },
  );

  clause(['Container > instanceType', '7. Create a container > #3'], 'the instance type is required', async () => {
    for (const body of [{ command: ['true'] }, { instanceType: '', command: ['true'] }, { instanceType: 'none' }]) {
      const answer = await rig().call('POST', `${NORTH}/containers`, { body });
      expect([answer.status, answer.json().status]).toEqual([400, 'INVALID_ARGUMENT']);
    }
  });

  clause(['Container > image'], 'an engine without images says so when one is named', async () => {
    const body = { instanceType: 'n-small', image: 'alpine:3', command: ['true'] };
    const answer = await rig().call('POST', `${NORTH}/containers`, { body });
    if (answer.status === 200) {
      const path = `${NORTH}/containers/${answer.json().id}`;
      expect(answer.json().image).toBe('alpine:3');
      const ended = await reach(rig(), path, ...ENDS);
      expect([ended.phase, String(ended.state)]).toEqual(['Failed', expect.stringMatching(/image/i)]);
    } else expect([answer.status, answer.json().message]).toEqual([400, expect.stringMatching(/image/i)]);
  });

  clause(
    ['Container > envs', 'Container > labels'],
    'the environment is what the client gave, labels are not in it',
    async () => {
      const { path } = await start(rig(), 'printf "%s|%s" "$GREETING" "$(printenv team || echo none)"', {
        envs: { GREETING: "it's $HOME" },
        labels: { team: 'vision' },
      });
      await reach(rig(), path, 'Succeeded');
      expect((await rig().call('GET', `${path}/logs`)).text).toBe("it's $HOME|none");
    },
  );

  clause(['7. Create a container > #3'], 'a body of another shape is rejected and starts nothing', async () => {
    const before = await items(rig(), `${NORTH}/containers`, 'containers', { all: true });
    const json = { 'content-type': 'application/json' };
    const spec = (fields: object) => JSON.stringify({ instanceType: 'n-small', command: ['true'], ...fields });
    for (const body of [
      ...['', 'null', '[]', '{', '"x"', '{"instanceType":"n-small"'],
      spec({ command: 'true' }),
      spec({ command: [1] }),
      spec({ labels: { a: 1 } }),
      spec({ envs: ['A=1'] }),
      spec({ ports: { web: 80 } }),
      spec({ comand: ['x'] }),
    ]) {
      const answer = await rig().call('POST', `${NORTH}/containers`, { body, headers: json });
      expect([answer.status, answer.json().code], body).toEqual([400, 400]);
    }
    expect(await items(rig(), `${NORTH}/containers`, 'containers', { all: true })).toEqual(before);
  });

  clause(
    ['7. Create a container > #5'],
    'what the caller passes in the command reaches the program as it is',
    async () => {
      const token = 's3cret\' " $(id) `id` \\ \t';
      const command = ['sh', '-c', 'printf %s "$1"', 'sh', token];
      const { path } = await start(rig(), '', { command });
      await reach(rig(), path, 'Succeeded');
      expect((await rig().call('GET', `${path}/logs`)).text).toBe(token);
    },
  );
}

function describeSet(rig: Rig): void {
  clause(
    [
      '8. Get a container > #1',
      'Container > phase',
      'Container > state',
      'Container > runID',
      'Container > nodeID',
      'Container > createTime',
      'Container > startTime',
      'Container phases > #2',
    ],
    'a running container tells phase, state, run, node and its times, and no end',
    async () => {
      const { path } = await start(rig(), 'sleep 100');
      const running = await reach(rig(), path, 'Running');
      expect(PHASES).toContain(running.phase);
      expect([running.state, running.runID, running.nodeID]).toEqual(Array(3).fill(expect.stringMatching(/./)));
      expect([running.createTime, running.startTime]).toEqual(Array(2).fill(expect.stringMatching(TIME)));
      expect(running).not.toHaveProperty('endTime');
      expect(running).not.toHaveProperty('runTime');
      await rig().call('POST', `${path}:cancel`);
    },
  );

  clause(
    ['Container > endTime', 'Container > runTime'],
    'an ended container tells when, and after how many seconds',
    async () => {
      const { path } = await start(rig(), 'sleep 0.3');
      const ended = await reach(rig(), path, 'Succeeded');
      expect(ended.endTime).toMatch(TIME);
      const [started, end] = [Date.parse(String(ended.startTime)), Date.parse(String(ended.endTime))];
      expect(ended.runTime).toBeCloseTo((end - started) / 1000, 1);
      expect(ended.runTime).toBeGreaterThanOrEqual(0.25);
      expect(ended.runTime).toBeLessThan(20);
    },
  );

  clause(
    ['Container > startTime', 'Container phases > Pending'],
    'a container that waits has no start time',
    async () => {
      const many = await Promise.all(Array.from({ length: 70 }, () => start(rig(), 'sleep 100')));
      const containers = await Promise.all(many.map(async ({ path }) => (await rig().call('GET', path)).json()));
      const waiting = containers.filter((it) => it.phase === 'Pending' || it.phase === 'Creating');
      expect(waiting.length).toBeGreaterThan(0);
      for (const it of waiting) {
        expect(it).not.toHaveProperty('startTime');
        expect(it.state).toMatch(/./);
      }
      await Promise.all(many.map(({ path }) => rig().call('DELETE', path)));
    },
  );
}

function describeIds(rig: Rig): void {
  clause(
    ['7. Create a container > #1', 'Limits > Identifier character set', 'Limits > #2', 'What the service does > #8'],
    'a container ID is of [a-z0-9-] and of one to 63 characters, or made up',
    async () => {
      const body = { instanceType: 'n-small', command: ['true'] };
      for (const containerID of ['Upper', 'a_b', 'a.b', 'a:cancel', 'é', 'x'.repeat(64)]) {
        const answer = await rig().call('POST', `${NORTH}/containers`, { query: { containerID }, body });
        expect([answer.status, answer.json().status], containerID).toEqual([400, 'INVALID_ARGUMENT']);
      }
      const longest = freshId('x'.repeat(54));
      const taken = await rig().call('POST', `${NORTH}/containers`, { query: { containerID: longest }, body });
      expect(taken.json().id).toBe(longest);
      const free = await rig().call('POST', `${NORTH}/containers`, { body });
      expect(free.json().id).toMatch(/^[a-z0-9-]{1,63}$/);
    },
  );

  clause(['7. Create a container > #1', 'Errors > #1'], 'a container ID in use is a conflict', async () => {
    const { id, path } = await start(rig(), 'exit 0');
    await reach(rig(), path, 'Succeeded');
    const body = { instanceType: 'n-small', command: ['true'] };
    const answer = await rig().call('POST', `${NORTH}/containers`, { query: { containerID: id }, body });
    expect([answer.status, answer.json()]).toMatchObject([409, { code: 409, status: 'ALREADY_EXISTS' }]);
  });

  clause(['Errors > #1'], 'what is not there is 404, on every path to it', async () => {
    for (const [method, path] of [
      ['GET', `${NORTH}/containers/none`],
      ['GET', `${NORTH}/containers/none/logs`],
      ['POST', `${NORTH}/containers/none:cancel`],
      ['DELETE', `${NORTH}/containers/none`],
      ['DELETE', `${NORTH}/volumes/none`],
      ['POST', `${NORTH}/containers/none:restart`],
      ['GET', `${NORTH}/nothing`],
    ] as const) {
      const answer = await rig().call(method, path);
      expect([answer.status, answer.json().code], `${method} ${path}`).toEqual([404, 404]);
      expect(answer.json().message).toMatch(/./);
    }
  });
}

function describeCluster(rig: Rig): void {
  clause(
    ['7. Create a container > #2', 'What the service does > #9'],
    'the cluster - is that of the instance type',
    async () => {
      for (const [instanceType, clusterID] of [
        ['n-small', 'north'],
        ['s-small', 'south'],
      ] as const) {
        const body = { instanceType, command: ['true'] };
        const answer = await rig().call('POST', 'clusters/-/accounts/lab/containers', { body });
        expect(answer.json()).toMatchObject({ clusterID, accountID: 'lab' });
        await reach(rig(), `clusters/${clusterID}/accounts/lab/containers/${answer.json().id}`, ...ENDS);
      }
    },
  );

  clause(
    ['7. Create a container > #2', 'What the service does > #4'],
    'a container runs in its volume’s cluster and nowhere else',
    async () => {
      const { id } = await makeVolume(rig(), { account: SOUTH });
      const body = { instanceType: 's-small', command: ['true'], volumeMounts: { [id]: '/mnt/v' } };
      const there = await rig().call('POST', `${SOUTH}/containers`, { body });
      expect(there.status).toBe(200);
      for (const path of ['clusters/-/accounts/lab/containers', `${NORTH}/containers`]) {
        const answer = await rig().call('POST', path, { body: { ...body, instanceType: 'n-small' } });
        expect([answer.status, answer.json().code], path).toEqual([400, 400]);
      }
    },
  );

  clause(
    ['What the service does > #9'],
    'the wildcard is rejected where a container or its account is meant',
    async () => {
      const { id, path } = await start(rig(), 'exit 0');
      await reach(rig(), path, 'Succeeded');
      for (const scope of ['clusters/-/accounts/lab', 'clusters/north/accounts/-']) {
        for (const [method, rest] of [
          ['GET', `containers/${id}`],
          ['GET', 'containers'],
          ['GET', `containers/${id}/logs`],
          ['POST', `containers/${id}:cancel`],
          ['DELETE', `containers/${id}`],
        ] as const) {
          const answer = await rig().call(method, `${scope}/${rest}`);
          expect([answer.status, answer.json().code], `${method} ${scope}/${rest}`).toEqual([400, 400]);
        }
      }
      expect((await rig().call('GET', path)).status).toBe(200);
    },
  );
}
