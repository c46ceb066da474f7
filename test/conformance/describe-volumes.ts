import { existsSync } from 'node:fs';
import { rename } from 'node:fs/promises';
import { join } from 'node:path';
import { until } from '@sluice/client/contract';
import { describe, expect } from 'vitest';
import { clause } from './clause-test.ts';
import {
  type Call,
  type Fields,
  findVolume,
  freshId,
  items,
  makeVolume,
  NORTH,
  type Rig,
  reach,
  SOUTH,
  start,
} from './conformance-rig.ts';

const PHASES = ['Creating', 'Pending', 'Available', 'Failed', 'Deleting', 'Deleted', 'Unknown'];
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/;

export function describeVolumes(rig: Rig): void {
  describe('volumes', () => {
    describeCreate(rig);
    describeService(rig);
    describeDelete(rig);
    describeLostStorage(rig);
    describeList(rig);
  });
}

function describeCreate(rig: Rig): void {
  clause(
    [
      'Endpoints > POST /clusters/{clusterID}/accounts/{accountID}/volumes',
      'Endpoints > #2',
      '3. Create a volume > #2',
      '3. Create a volume > #4',
      'Volume > id',
      'Volume > clusterID',
      'Volume > accountID',
      'Volume phases > Creating',
      'Volume phases > Pending',
      'Volume phases > Available',
    ],
    'a volume is created under the ID that was asked for, and becomes Available',
    async () => {
      const id = freshId('chosen');
      const answer = await rig().call('POST', `${NORTH}/volumes`, { query: { volumeID: id }, body: {} });
      expect(answer.status).toBe(200);
      const created = answer.json();
      expect(created).toMatchObject({ id, clusterID: 'north', accountID: 'lab' });
      expect(['Creating', 'Pending', 'Available', undefined]).toContain(created.phase);
      expect(created).not.toHaveProperty('service');
      const seen: unknown[] = [];
      await until('available', async () => {
        seen.push((await findVolume(rig(), id))?.phase);
        return seen.at(-1) === 'Available';
      });
      for (const phase of seen) expect(['Creating', 'Pending', 'Available']).toContain(phase);
    },
  );

  clause(
    ['3. Create a volume > #2', 'Limits > Identifier character set'],
    'a volume without an ID gets one',
    async () => {
      const answer = await rig().call('POST', `${NORTH}/volumes`, { body: {} });
      expect(answer.json().id).toMatch(/^[a-z0-9-]+$/);
    },
  );

  clause(['3. Create a volume > #1'], 'a volume has no cluster and no account by wildcard', async () => {
    for (const path of ['clusters/-/accounts/lab/volumes', 'clusters/north/accounts/-/volumes']) {
      const answer = await rig().call('POST', path, { body: {} });
      expect([answer.status, answer.json().code], path).toEqual([400, 400]);
    }
  });

  clause(
    ['3. Create a volume > #2', 'What the service does > #8', 'Limits > Identifier character set', 'Limits > #2'],
    'a volume ID is of [a-z0-9-] and of one to 63 characters',
    async () => {
      const before = await items(rig(), `${NORTH}/volumes`, 'volumes');
      for (const volumeID of ['Upper', 'a_b', 'a.b', 'a b', 'a/b', 'é', 'x'.repeat(64)]) {
        const answer = await rig().call('POST', `${NORTH}/volumes`, { query: { volumeID }, body: {} });
        expect([answer.status, answer.json().status], volumeID).toEqual([400, 'INVALID_ARGUMENT']);
      }
      expect(await items(rig(), `${NORTH}/volumes`, 'volumes')).toEqual(before);
    },
  );

  clause(['3. Create a volume > #3'], 'the body is a JSON object, and service an object', async () => {
    const json = { 'content-type': 'application/json' };
    for (const body of ['[]', '7', '"x"', '{', '{"service":true}', '{"service":[]}']) {
      const answer = await rig().call('POST', `${NORTH}/volumes`, { body, headers: json });
      expect(answer.status, body).toBe(400);
    }
  });

  clause(['3. Create a volume > #2', 'Errors > #1'], 'a volume ID in use is a conflict', async () => {
    const { id } = await makeVolume(rig());
    const answer = await rig().call('POST', `${NORTH}/volumes`, { query: { volumeID: id }, body: {} });
    expect([answer.status, answer.json().status]).toEqual([409, 'ALREADY_EXISTS']);
  });
}

function describeService(rig: Rig): void {
  clause(
    [
      'Volume > service',
      'Volume > #1',
      'Volume > username',
      'Volume > password',
      'Volume > address.webdav',
      'Volume > address.sftp',
      '3. Create a volume > #3',
      '3. Create a volume > #4',
      'What the service does > #2',
    ],
    'the transfer service is in the create reply, and its password nowhere else',
    async () => {
      const { id, created } = await makeVolume(rig(), { body: { service: {} } });
      const service = created.service as Fields;
      expect(service).toEqual({
        username: expect.stringMatching(/./),
        password: expect.stringMatching(/.{16}/),
        address: { webdav: expect.stringMatching(/^https?:\/\//), sftp: expect.stringMatching(/^[^/\s]+:\d+$/) },
      });
      const everything = [
        await rig().call('GET', `${NORTH}/volumes`, { query: { pageSize: 1000 } }),
        await rig().call('GET', 'clusters/-/accounts/-/volumes', { query: { pageSize: 1000 } }),
      ];
      for (const answer of everything) {
        expect(answer.text).toContain(id);
        expect(answer.text).not.toContain(String(service.password));
        expect(answer.text).not.toContain('"service"');
      }
    },
  );

  clause(['Volume > address.webdav', 'What the service does > #2'], 'the WebDAV address takes the login', async () => {
    const { created } = await makeVolume(rig(), { body: { service: {} } });
    const { username, password, address } = created.service as Fields;
    const url = new URL(`${String((address as Fields).webdav).replace(/\/$/, '')}/note.txt`);
    const authorization = `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`;
    const dav = (method: string, call: { body?: string; headers?: Record<string, string> }) =>
      rig().call(method, url.pathname, { token: null, ...call });
    expect(url.origin).toBe(rig().origin);
    expect((await dav('PUT', { body: 'hello', headers: { authorization } })).status).toBe(201);
    expect((await dav('GET', { headers: { authorization } })).text).toBe('hello');
    expect((await dav('GET', {})).status).toBe(401);
    expect((await rig().call('GET', url.pathname)).status).toBe(401);
  });
}

function describeDelete(rig: Rig): void {
  clause(
    [
      'Endpoints > DELETE /clusters/{clusterID}/accounts/{accountID}/volumes/{volumeID}',
      '5. Delete a volume > #1',
      '5. Delete a volume > #2',
      'Volume phases > Deleting',
      'Volume phases > Available (implied by the operation): force=false (default)',
    ],
    'a deleted volume is Deleting and cannot be mounted',
    async () => {
      for (const query of [{}, { force: false }]) {
        const { id, path } = await makeVolume(rig());
        const answer = await rig().call('DELETE', path, { query });
        expect([answer.status, answer.text]).toEqual([204, '']);
        expect((await findVolume(rig(), id))?.phase).toBe('Deleting');
        const body = { instanceType: 'n-small', command: ['true'], volumeMounts: { [id]: '/mnt/v' } };
        const mounted = await rig().call('POST', `${NORTH}/containers`, { body });
        expect([mounted.status, mounted.json().status]).toEqual([400, 'FAILED_PRECONDITION']);
      }
    },
  );

  clause(
    [
      'Endpoints > POST /clusters/{clusterID}/accounts/{accountID}/volumes/{volumeID}:undelete',
      '6. Undelete a volume > #1',
      'Volume phases > Deleting: within the retention period',
    ],
    'undelete brings a Deleting volume back, and rejects any other',
    async () => {
      const { id, path } = await makeVolume(rig());
      const early = await rig().call('POST', `${path}:undelete`);
      expect([early.status, early.json().status]).toEqual([400, 'FAILED_PRECONDITION']);
      await rig().call('DELETE', path);
      const answer = await rig().call('POST', `${path}:undelete`);
      expect([answer.status, answer.text]).toEqual([204, '']);
      await until('available', async () => (await findVolume(rig(), id))?.phase === 'Available');
      expect((await rig().call('POST', `${NORTH}/volumes/none:undelete`)).status).toBe(404);
    },
  );

  clause(
    [
      '5. Delete a volume > #1',
      'Volume phases > Deleted',
      'Volume phases > Available (implied): DELETE volumes/<volumeID>?force=true',
    ],
    'a volume deleted by force does not come back',
    async () => {
      const { id, path } = await makeVolume(rig());
      const answer = await rig().call('DELETE', path, { query: { force: true } });
      expect([answer.status, answer.text]).toEqual([204, '']);
      expect([400, 404]).toContain((await rig().call('POST', `${path}:undelete`)).status);
      expect(['Deleted', undefined]).toContain((await findVolume(rig(), id))?.phase);
    },
  );

  clause(['5. Delete a volume > #1'], 'force is true or false', async () => {
    const { id, path } = await makeVolume(rig());
    expect((await rig().call('DELETE', path, { query: { force: 'yes' } })).status).toBe(400);
    expect((await findVolume(rig(), id))?.phase).toBe('Available');
  });

  clause(
    ['Volume phases > #2', 'What the service does > #2'],
    'a volume stays when the containers that mounted it are canceled and deleted',
    async () => {
      const { id } = await makeVolume(rig());
      const { path } = await start(rig(), 'sleep 100', { volumeMounts: { [id]: '/mnt/v' } });
      await reach(rig(), path, 'Running');
      await rig().call('POST', `${path}:cancel`);
      await reach(rig(), path, 'Canceled');
      expect((await findVolume(rig(), id))?.phase).toBe('Available');
      await rig().call('DELETE', path);
      expect((await findVolume(rig(), id))?.phase).toBe('Available');
    },
  );
}

function describeLostStorage(rig: Rig): void {
  clause(
    ['Volume phases > Unknown', 'Volume > state'],
    'a volume whose storage is away is Unknown, cannot be mounted, and comes back with it',
    async () => {
      const { id, created } = await makeVolume(rig(), { body: { service: {} } });
      const { username, password, address } = created.service as Fields;
      const url = new URL(`${String((address as Fields).webdav).replace(/\/$/, '')}/note.txt`);
      const authorization = `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`;
      const dav = (method: string, body?: string) =>
        rig().call(method, url.pathname, {
          ...{ token: null, headers: { authorization } },
          ...(body === undefined ? {} : { body }),
        });
      expect((await dav('PUT', 'kept')).status).toBe(201);
      const mounting = { instanceType: 'n-small', command: ['true'], volumeMounts: { [id]: '/mnt/v' } };
      const storage = join(rig().root, 'clusters/north');
      await rename(storage, `${storage}-away`);
      try {
        expect(await findVolume(rig(), id)).toMatchObject({
          phase: 'Unknown',
          state: 'not usable until its files are back: its directory does not exist',
        });
        const mounted = await rig().call('POST', `${NORTH}/containers`, { body: mounting });
        expect([mounted.status, mounted.json().status]).toEqual([400, 'FAILED_PRECONDITION']);
        expect(mounted.json().message).toContain('the volume is Unknown: its directory does not exist');
        const volumes: [string, string, Call][] = [
          ['POST', `${NORTH}/volumes`, { body: {} }],
          ['DELETE', `${NORTH}/volumes/${id}`, { query: { force: true } }],
        ];
        for (const [method, path, call] of volumes) {
          const answer = await rig().call(method, path, call);
          expect([answer.status, answer.json().status], method).toEqual([503, 'UNAVAILABLE']);
        }
        for (const answer of [await dav('GET'), await dav('PUT', 'lost')]) expect(answer.status).toBe(503);
        // Nothing was made where the storage will be back.
        expect(existsSync(storage)).toBe(false);
      } finally {
        await rename(`${storage}-away`, storage);
      }
      expect((await findVolume(rig(), id))?.phase).toBe('Available');
      expect((await dav('GET')).text).toBe('kept');
      expect((await rig().call('POST', `${NORTH}/containers`, { body: mounting })).status).toBe(200);
    },
  );
}

function describeList(rig: Rig): void {
  clause(
    ['Volume > phase', 'Volume > state', 'Volume > createTime', 'Volume > #2', '4. List volumes > #4'],
    'a list item has six fields',
    async () => {
      const { id } = await makeVolume(rig(), { body: { service: {} } });
      const item = (await findVolume(rig(), id)) ?? {};
      expect(Object.keys(item).sort()).toEqual(['accountID', 'clusterID', 'createTime', 'id', 'phase', 'state']);
      expect(PHASES).toContain(item.phase);
      expect(item.state).toBeTypeOf('string');
      expect(item.createTime).toMatch(TIME);
    },
  );

  clause(
    [
      'Endpoints > GET /clusters/{cluster}/accounts/{account}/volumes',
      '4. List volumes > #1',
      'What the service does > #4',
      'What the service does > #9',
    ],
    'volumes are listed for one account or for all, each in its cluster',
    async () => {
      const [north, south] = [await makeVolume(rig()), await makeVolume(rig(), { account: SOUTH })];
      const ids = async (path: string) => (await items(rig(), path, 'volumes')).map((it) => it.id);
      expect(await ids(`${NORTH}/volumes`)).toContain(north.id);
      expect(await ids(`${NORTH}/volumes`)).not.toContain(south.id);
      for (const path of ['clusters/-/accounts/lab/volumes', 'clusters/-/accounts/-/volumes']) {
        expect(await ids(path), path).toEqual(expect.arrayContaining([north.id, south.id]));
      }
      expect(await ids('clusters/south/accounts/-/volumes')).toContain(south.id);
      expect(await ids('clusters/south/accounts/-/volumes')).not.toContain(north.id);
    },
  );

  clause(
    [
      '4. List volumes > #2',
      '4. List volumes > #3',
      '4. List volumes > #4',
      'Limits > pageSize default',
      'Limits > #1',
    ],
    'volumes come in pages, of a hundred by default and of a thousand at most',
    async () => {
      const path = 'clusters/south/accounts/lab/volumes';
      const made = Array.from({ length: 102 }, () => rig().call('POST', path, { body: {} }));
      await Promise.all(made);
      const page = async (query: Record<string, string | number>) => {
        const { volumes, nextPageToken } = (await rig().call('GET', path, { query })).json();
        return { count: (volumes as Fields[]).length, nextPageToken: String(nextPageToken) };
      };
      const first = await page({});
      expect(first.count).toBe(100);
      expect(first.nextPageToken).not.toBe('');
      const last = await page({ nextPageToken: first.nextPageToken });
      expect(last.count).toBeGreaterThanOrEqual(2);
      expect(last.nextPageToken).toBe('');
      expect(await page({ pageSize: 5000, nextPageToken: '' })).toEqual({ count: 100 + last.count, nextPageToken: '' });
      for (const pageSize of [0, -1, '1.5', 'ten']) {
        expect((await rig().call('GET', path, { query: { pageSize } })).status, String(pageSize)).toBe(400);
      }
      expect((await rig().call('GET', path, { query: { nextPageToken: 'made-up' } })).status).toBe(400);
    },
  );
}
