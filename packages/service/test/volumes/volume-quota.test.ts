import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { appendFileSync, lstatSync, mkdirSync, readdirSync, renameSync, writeFileSync } from 'node:fs';
import { type ClientRequest, type IncomingMessage, request as openRequest } from 'node:http';
import { join } from 'node:path';
import ssh2, { type SFTPWrapper } from 'ssh2';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { API, openRawHttp, type RawHttp } from '../api/raw-http.ts';
import { FakeEngine } from '../fakes/fake-engine.ts';
import { passFileTime } from './pass-file-time.ts';

const BLOCK = 4096;
/** The quota in blocks. */
const MAXIMUM = 100;
const CLUSTER = {
  id: 'one',
  engine: 'fake',
  accounts: ['mine'],
  instanceTypes: [{ id: 'small', cpu: 1, memory: '1GB' }],
  quota: { volumes: `${(MAXIMUM * BLOCK) / 1024}KiB` },
};

interface Upload {
  readonly request: ClientRequest;
  readonly status: Promise<number>;
}

/** The volume `v` of an account with a quota, over HTTP and SFTP. Sizes are in blocks. */
async function openVolume(http: RawHttp) {
  const made = await http.send('POST', `${API}/volumes?volumeID=v`, { body: '{"service":{}}' });
  const { service } = made.json() as {
    service: { username: string; password: string; address: { webdav: string; sftp: string } };
  };
  const { username, password, address } = service;
  const base = new URL(address.webdav).pathname;
  const authorization = `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`;
  const root = join(http.rig.root, 'clusters/one/volumes/mine/v');

  const begin = (method: string, path: string, headers: Record<string, string> = {}): Upload => {
    const request = openRequest(http.url + base + path, { method, headers: { authorization, ...headers } });
    const status = new Promise<number>((resolve) => {
      request.on('response', (reply: IncomingMessage) => {
        reply.resume();
        resolve(reply.statusCode ?? 0);
      });
      // A rejection may end the connection before the body is sent.
      request.on('error', () => resolve(0));
    });
    return { request, status };
  };
  const dav = async (
    method: string,
    path: string,
    options: { to?: string; blocks?: number; chunked?: boolean } = {},
  ) => {
    const { to, blocks, chunked } = options;
    const { request, status } = begin(method, path, {
      ...(to === undefined ? {} : { destination: http.url + base + to }),
      ...(blocks === undefined || chunked ? {} : { 'content-length': String(blocks * BLOCK) }),
      ...(chunked ? { 'transfer-encoding': 'chunked' } : {}),
    });
    request.end(blocks === undefined ? undefined : randomBytes(blocks * BLOCK));
    return status;
  };
  /** Breaks off after `sent` blocks of `blocks`. */
  const cut = async (path: string, options: { blocks: number; sent: number; chunked?: boolean }) => {
    const { request } = begin('PUT', path, {
      ...(options.chunked ? {} : { 'content-length': String(options.blocks * BLOCK) }),
    });
    request.write(randomBytes(options.sent * BLOCK));
    await expect.poll(() => blocksIn(root)).toBeGreaterThan(0);
    request.destroy();
    await expect.poll(() => readdirSync(root)).toEqual([]);
  };

  const [host, port] = address.sftp.split(':');
  const connect = async (): Promise<SFTPWrapper> => {
    const client = new ssh2.Client();
    client.connect({ host: host!, port: Number(port), username, password });
    await once(client, 'ready');
    // Some are still connected when the service closes.
    client.on('error', () => undefined);
    clients.push(client);
    return new Promise((resolve, reject) => client.sftp((error, sftp) => (error ? reject(error) : resolve(sftp))));
  };
  const clients: ssh2.Client[] = [];
  return {
    root,
    begin,
    dav,
    cut,
    connect,
    endSessions: () => {
      for (const client of clients.splice(0)) client.end();
    },
    stored: () => blocksIn(root),
    async counted() {
      const metrics = (await http.send('GET', '/metrics')).text;
      return Number(/^sluice_account_volume_bytes\{cluster="one",account="mine"\} (\d+)$/m.exec(metrics)?.[1]) / BLOCK;
    },
  };
}

type Volume = Awaited<ReturnType<typeof openVolume>>;

function blocksIn(directory: string): number {
  const files = readdirSync(directory, { recursive: true, encoding: 'utf8' }).map((name) =>
    lstatSync(join(directory, name)),
  );
  const inodes = new Map(files.filter((stats) => !stats.isDirectory()).map((stats) => [stats.ino, stats.blocks]));
  return ([...inodes.values()].reduce((sum, blocks) => sum + blocks, 0) * 512) / BLOCK;
}

/** `0` or the status of the failure. */
function done(call: (callback: (error?: Error | null) => void) => void): Promise<number> {
  return new Promise((resolve) => call((error) => resolve(error ? Number((error as { code?: unknown }).code) : 0)));
}

async function openHandle(sftp: SFTPWrapper, path: string, flags: string): Promise<Buffer> {
  return new Promise((resolve, reject) =>
    sftp.open(path, flags as never, (error, handle) => (error ? reject(error) : resolve(handle))),
  );
}

async function writeSftp(volume: Volume, path: string, options: { flags?: string; at?: number; blocks: number }) {
  const sftp = await volume.connect();
  const { flags = 'w', at = 0, blocks } = options;
  const handle = await openHandle(sftp, path, flags);
  const status = await done((callback) =>
    sftp.write(handle, randomBytes(blocks * BLOCK), 0, blocks * BLOCK, at * BLOCK, callback),
  );
  await done((callback) => sftp.close(handle, callback));
  return status;
}

describe('quota of volumes', () => {
  let http: RawHttp;
  let volume: Volume;
  beforeAll(async () => {
    const config = { clusters: [CLUSTER], sftp: { host: '127.0.0.1', port: 0 } };
    http = await openRawHttp({ engine: 'fake', engines: { fake: () => new FakeEngine() }, config });
    volume = await openVolume(http);
  });
  afterAll(() => http.close());
  afterEach(async () => {
    volume.endSessions();
    for (const name of readdirSync(volume.root)) expect(await volume.dav('DELETE', name)).toBe(204);
    await expect.poll(() => volume.counted()).toBe(0);
  });

  const put = (path: string, blocks: number) => volume.dav('PUT', path, { blocks });
  const operations: Readonly<Record<string, readonly [blocks: number, run: () => Promise<unknown>]>> = {
    'PUT with a length': [30, () => put('a', 30)],
    'PUT without a length': [30, () => volume.dav('PUT', 'a', { blocks: 30, chunked: true })],
    'PUT over a smaller file': [30, async () => [await put('a', 10), await put('a', 30)]],
    'PUT over a larger file': [10, async () => [await put('a', 30), await put('a', 10)]],
    'PUT that breaks off': [0, () => volume.cut('a', { blocks: 90, sent: 20 })],
    'PUT without a length that breaks off': [0, () => volume.cut('a', { blocks: 90, sent: 20, chunked: true })],
    COPY: [60, async () => [await put('a', 30), await volume.dav('COPY', 'a', { to: 'b' })]],
    'COPY of a directory': [
      60,
      async () => {
        await volume.dav('MKCOL', 'd');
        await put('d/a', 10);
        await put('d/b', 20);
        return volume.dav('COPY', 'd/', { to: 'e/' });
      },
    ],
    'COPY over a file': [
      20,
      async () => [await put('a', 10), await put('b', 30), await volume.dav('COPY', 'a', { to: 'b' })],
    ],
    MOVE: [30, async () => [await put('a', 30), await volume.dav('MOVE', 'a', { to: 'b' })]],
    'MOVE over a file': [
      10,
      async () => [await put('a', 10), await put('b', 30), await volume.dav('MOVE', 'a', { to: 'b' })],
    ],
    DELETE: [0, async () => [await put('a', 30), await volume.dav('DELETE', 'a')]],
    'DELETE of a directory': [
      0,
      async () => [await volume.dav('MKCOL', 'd'), await put('d/a', 30), await volume.dav('DELETE', 'd/')],
    ],
    'SFTP write': [30, () => writeSftp(volume, 'a', { blocks: 30 })],
    'SFTP write over the same part': [
      30,
      async () => [
        await writeSftp(volume, 'a', { blocks: 30 }),
        await writeSftp(volume, 'a', { flags: 'r+', at: 10, blocks: 20 }),
      ],
    ],
    'SFTP append': [
      50,
      async () => [
        await writeSftp(volume, 'a', { blocks: 30 }),
        await writeSftp(volume, 'a', { flags: 'a', blocks: 20 }),
      ],
    ],
    'SFTP write behind a hole': [10, () => writeSftp(volume, 'a', { at: 1000, blocks: 10 })],
    'SFTP open that empties': [
      10,
      async () => [await writeSftp(volume, 'a', { blocks: 30 }), await writeSftp(volume, 'a', { blocks: 10 })],
    ],
    'SFTP truncate': [
      10,
      async () => {
        await writeSftp(volume, 'a', { blocks: 30 });
        const sftp = await volume.connect();
        return done((callback) => sftp.setstat('a', { size: 10 * BLOCK } as never, callback));
      },
    ],
    'SFTP truncate of an open file': [
      15,
      async () => {
        const sftp = await volume.connect();
        const handle = await openHandle(sftp, 'a', 'w');
        const bytes = (blocks: number) => randomBytes(blocks * BLOCK);
        await done((callback) => sftp.write(handle, bytes(30), 0, 30 * BLOCK, 0, callback));
        await done((callback) => sftp.fsetstat(handle, { size: 10 * BLOCK } as never, callback));
        await done((callback) => sftp.write(handle, bytes(5), 0, 5 * BLOCK, 10 * BLOCK, callback));
        return done((callback) => sftp.close(handle, callback));
      },
    ],
    'SFTP remove': [
      0,
      async () => {
        await writeSftp(volume, 'a', { blocks: 30 });
        const sftp = await volume.connect();
        return done((callback) => sftp.unlink('a', callback));
      },
    ],
    'SFTP remove of an open file': [
      0,
      async () => {
        const sftp = await volume.connect();
        const handle = await openHandle(sftp, 'a', 'w');
        await done((callback) => sftp.write(handle, randomBytes(30 * BLOCK), 0, 30 * BLOCK, 0, callback));
        await done((callback) => sftp.unlink('a', callback));
        await done((callback) => sftp.write(handle, randomBytes(30 * BLOCK), 0, 30 * BLOCK, 30 * BLOCK, callback));
        return done((callback) => sftp.close(handle, callback));
      },
    ],
    'SFTP rename over a file': [
      10,
      async () => {
        await put('a', 10);
        await put('b', 30);
        const sftp = await volume.connect();
        return done((callback) => sftp.ext_openssh_rename('a', 'b', callback));
      },
    ],
    'SFTP rename to itself': [
      10,
      async () => {
        await put('a', 10);
        const sftp = await volume.connect();
        return done((callback) => sftp.ext_openssh_rename('a', 'a', callback));
      },
    ],
    'SFTP hard link, and the first name removed': [
      30,
      async () => {
        await put('a', 30);
        const sftp = await volume.connect();
        await done((callback) => sftp.ext_openssh_hardlink('a', 'b', callback));
        return done((callback) => sftp.unlink('a', callback));
      },
    ],
    'SFTP connection that breaks off': [
      20,
      async () => {
        const sftp = await volume.connect();
        const handle = await openHandle(sftp, 'a', 'w');
        await done((callback) => sftp.write(handle, randomBytes(20 * BLOCK), 0, 20 * BLOCK, 0, callback));
        volume.endSessions();
      },
    ],
    'SFTP writes of two sessions to one file': [
      40,
      async () => {
        const sessions = await Promise.all([volume.connect(), volume.connect()]);
        const handles: Buffer[] = [];
        for (const sftp of sessions) handles.push(await openHandle(sftp, 'a', handles.length === 0 ? 'w' : 'r+'));
        await Promise.all(
          sessions.map((sftp, index) =>
            done((callback) =>
              sftp.write(handles[index]!, randomBytes(20 * BLOCK), 0, 20 * BLOCK, index * 20 * BLOCK, callback),
            ),
          ),
        );
        return Promise.all(sessions.map((sftp, index) => done((callback) => sftp.close(handles[index]!, callback))));
      },
    ],
  };
  it.for(Object.entries(operations))('counts what is stored after %s', async ([, [blocks, run]]) => {
    await run();
    await expect.poll(async () => [volume.stored(), await volume.counted()]).toEqual([blocks, blocks]);
  });

  const rejected: Readonly<Record<string, readonly [rejection: number, run: () => Promise<number>]>> = {
    'PUT with a length': [507, () => put('b', 41)],
    'PUT without a length': [507, () => volume.dav('PUT', 'b', { blocks: 41, chunked: true })],
    'PUT over the file': [507, () => put('a', 41)],
    COPY: [507, () => volume.dav('COPY', 'a', { to: 'b' })],
    'SFTP write': [4, () => writeSftp(volume, 'b', { blocks: 41 })],
    'SFTP append': [4, () => writeSftp(volume, 'a', { flags: 'a', blocks: 41 })],
    'SFTP write behind a hole': [4, () => writeSftp(volume, 'b', { at: 1000, blocks: 41 })],
  };
  it.for(Object.entries(rejected))(
    'rejects %s beyond the quota, and stores and counts nothing of it',
    async ([, [rejection, run]]) => {
      expect(await put('a', 60)).toBe(201);
      for (let attempt = 0; attempt < 3; attempt++) expect(await run()).toBe(rejection);
      await expect.poll(async () => [volume.stored(), await volume.counted()]).toEqual([60, 60]);
      expect(await put('c', 40)).toBe(201);
      expect(await put('d', 1)).toBe(507);
    },
  );

  it('admits only one of two uploads that do not fit together, and the other after the first broke off', async () => {
    const uploads = ['a', 'b'].map((path) => volume.begin('PUT', path, { 'content-length': String(60 * BLOCK) }));
    for (const { request } of uploads) request.flushHeaders();
    const index = await Promise.race(uploads.map(({ status }, at) => status.then(() => at)));
    expect(await uploads[index]!.status).toBe(507);
    expect(await put('c', 41)).toBe(507);
    uploads[1 - index]!.request.destroy();
    await expect.poll(() => put('c', 60)).toBe(201);
  });

  it('lets an account whose quota is used up rewrite what it has, and free space', async () => {
    await put('a', 100);
    await put('b', 0);
    const sftp = await volume.connect();
    expect(await writeSftp(volume, 'a', { flags: 'r+', at: 50, blocks: 50 })).toBe(0);
    expect(await done((callback) => sftp.setstat('a', { size: 40 * BLOCK } as never, callback))).toBe(0);
    expect(await volume.counted()).toBe(40);
    expect(await put('b', 60)).toBe(204);
  });

  const changes: Readonly<Record<string, readonly [left: number, run: () => Promise<unknown>]>> = {
    'DELETE of': [60, () => volume.dav('DELETE', 'made')],
    'DELETE of the directory of': [
      60,
      async () => {
        mkdirSync(join(volume.root, 'd'));
        renameSync(join(volume.root, 'made'), join(volume.root, 'd/made'));
        return volume.dav('DELETE', 'd/');
      },
    ],
    'PUT over': [61, () => put('made', 1)],
    'MOVE over': [60, () => volume.dav('MOVE', 'a', { to: 'made' })],
    'MOVE and DELETE of': [
      60,
      async () => [await volume.dav('MOVE', 'made', { to: 'b' }), await volume.dav('DELETE', 'b')],
    ],
    'SFTP open that empties': [61, () => writeSftp(volume, 'made', { blocks: 1 })],
  };
  it.for(Object.entries(changes))(
    'frees nothing after %s a file that a container has written since the last measurement',
    async ([, [left, run]]) => {
      expect(await put('a', 60)).toBe(201);
      await passFileTime(volume.root);
      // Below the quota together: a measurement that happens to run now changes nothing of what follows.
      writeFileSync(join(volume.root, 'made'), randomBytes(30 * BLOCK));
      await run();
      expect(await put('c', MAXIMUM - left + 1)).toBe(507);
      expect(volume.stored()).toBe(left);
      await expect.poll(() => volume.counted()).toBe(left);
      expect(await put('c', MAXIMUM - left)).toBe(201);
    },
  );

  it('frees what was counted of a file that a container has extended', async () => {
    expect(await put('a', 60)).toBe(201);
    appendFileSync(join(volume.root, 'a'), randomBytes(30 * BLOCK));
    expect(await volume.dav('DELETE', 'a')).toBe(204);
    expect(await put('b', 100)).toBe(201);
  });

  it('does not count a volume after its deletion was forced', async () => {
    await put('a', 100);
    const rejectedOne = await http.send('POST', `${API}/volumes?volumeID=w`, { body: '{}' });
    expect(rejectedOne.status).toBe(429);
    expect((await http.send('DELETE', `${API}/volumes/v?force=true`)).status).toBe(204);
    expect((await http.send('POST', `${API}/volumes?volumeID=w`, { body: '{}' })).status).toBe(200);
    expect(await volume.counted()).toBe(0);
    volume = await openVolume(http);
  });
});
