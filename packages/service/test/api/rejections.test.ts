import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { until } from '@sluice/client/contract';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { FakeEngine } from '../fakes/fake-engine.ts';
import { API, loginForm, openRawHttp, type RawHttp, type RawReply } from './raw-http.ts';

let http: RawHttp;
let engine: FakeEngine;
/** The target of a symlink in the volume. Only this test uses it, since it is checked for changes too. */
let outside: string;
beforeAll(async () => {
  engine = new FakeEngine();
  const engines = { fake: ({ clusterID }: { clusterID: string }) => (clusterID === 'one' ? engine : new FakeEngine()) };
  http = await openRawHttp({ engine: 'fake', engines, cores: 100 });
  await createThings();
});
afterAll(async () => {
  await http.close();
  rmSync(outside, { recursive: true });
});

const post = (path: string, body?: unknown, headers: Record<string, string> = {}) =>
  http.send('POST', path, { headers, ...(body === undefined ? {} : { body: JSON.stringify(body) }) });
const spec = (more: object = {}) => ({ instanceType: 'small', image: 'x', ...more });
const mounting = (key: string) => post(`${API}/containers`, spec({ volumeMounts: { [key]: '/v' } }));

/** The objects of the rejected calls: `live` runs and mounts `vol`, `ended` has failed, `gone` is being deleted. */
async function createThings(): Promise<void> {
  for (const id of ['vol', 'gone']) expect((await post(`${API}/volumes?volumeID=${id}`, {})).status).toBe(200);
  expect((await http.send('DELETE', `${API}/volumes/gone`)).status).toBe(204);
  expect((await post('/api/v1rc1/clusters/two/accounts/mine/volumes?volumeID=far', {})).status).toBe(200);
  const mounts = { volumeMounts: { vol: '/v', 'vol:deep/in:dir': '/d', 'vol:file:file': '/f' } };
  for (const [id, more] of [
    ['live', mounts],
    ['ended', {}],
    ['canceled', {}],
  ] as const) {
    expect((await post(`${API}/containers?containerID=${id}`, spec(more))).status).toBe(200);
  }
  await until('all are launched', async () => engine.launched.size === 3);
  engine.run('live');
  engine.end('ended', { kind: 'exited', exitCode: 1 });
  expect((await post(`${API}/containers/canceled:cancel`)).status).toBe(204);
  for (const [id, phase] of [
    ['ended', 'Failed'],
    ['canceled', 'Canceled'],
  ]) {
    await until(
      `${id} is ${phase}`,
      async () => (await http.send('GET', `${API}/containers/${id}`)).json().phase === phase,
    );
  }
  const root = join(http.rig.root, 'clusters/one/volumes/mine/vol');
  outside = mkdtempSync(join(tmpdir(), 'sluice-outside-'));
  mkdirSync(join(outside, 'ssh'));
  symlinkSync(outside, join(root, 'outward'));
  symlinkSync('deep', join(root, 'inward'));
}

/** Everything that a call could change: the lists of every account, the directories on the host, and the engine. */
async function everything(): Promise<unknown> {
  const paths = [
    'one/accounts/mine/containers?all=true',
    'two/accounts/mine/containers?all=true',
    '-/accounts/-/volumes',
  ];
  const lists = await Promise.all(
    paths.map(async (path) => (await http.send('GET', `/api/v1rc1/clusters/${path}`)).text),
  );
  const files = readdirSync(join(http.rig.root, 'clusters'), { recursive: true }).toSorted();
  return { lists, files, asked: engine.asked.length, stopped: engine.stopped.length };
}

interface Expected {
  readonly status: number;
  readonly reason?: string;
  /** Path of the invalid field. */
  readonly field?: string;
}

/** Expects that the call is rejected and changes nothing. */
async function rejected(call: () => Promise<RawReply>, { status, reason, field }: Expected): Promise<void> {
  const before = await everything();
  const reply = await call();
  expect(reply.status, reply.text).toBe(status);
  expect(reply.json()).toMatchObject({ code: status, status: expect.any(String), message: expect.stringMatching(/./) });
  if (reason !== undefined) expect(reply.json()).toMatchObject({ details: [{ reason }] });
  if (field !== undefined) expect(reply.json()).toMatchObject({ details: [{ field }] });
  expect(await everything()).toEqual(before);
}

describe('an invalid ID', () => {
  it.each([
    ['of capitals', 'ABC'],
    ['with an underscore', 'a_b'],
    ['with a dot', 'a.b'],
    ['of dots', '..'],
    ['with a slash', 'a/b'],
    ['with a NUL', 'a\0b'],
    ['with a newline at its end', 'abc\n'],
    ['of 64 characters', 'a'.repeat(64)],
    ['that only looks like one (Cyrillic)', 'v\u043el'],
    ['that only looks like one (full width)', '\uff56ol'],
    ['with a combining mark', 'vo\u0301l'],
    ['with a zero-width space', 'vol\u200b'],
    ['with a space', ' vol'],
    ['of another script', '\u{1f600}'],
  ])('%s is rejected in every place', async (_, id) => {
    const given = encodeURIComponent(id);
    await rejected(() => post(`${API}/containers?containerID=${given}`, spec()), { status: 400, field: 'containerID' });
    await rejected(() => post(`${API}/containers`, spec({ id })), { status: 400, field: 'containerID' });
    await rejected(() => post(`${API}/volumes?volumeID=${given}`, {}), { status: 400, field: 'volumeID' });
    await rejected(() => post(`${API}/containers`, spec({ ports: { [id]: {} } })), {
      status: 400,
      field: `ports.${id}`,
    });
    await rejected(() => mounting(id), { status: 400, field: `volumeMounts.${id}` });
    for (const [method, path] of [
      ['GET', `containers/${given}`],
      ['DELETE', `containers/${given}`],
      ['POST', `containers/${given}:cancel`],
      ['DELETE', `volumes/${given}`],
      ['DELETE', `volumes/${given}?force=true`],
    ] as const) {
      await rejected(() => http.send(method, `${API}/${path}`), { status: 404 });
    }
    await rejected(() => http.send('GET', `/api/v1rc1/clusters/${given}/accounts/mine/containers`), {
      status: id.includes('/') || id === '..' ? 404 : 403,
    }).catch((error: unknown) => {
      // A client may normalize dots before it sends the path.
      if (id !== '..') throw error;
    });
  });
});

describe('the wildcard', () => {
  it('is rejected as the ID of a volume or container and as the name of a port', async () => {
    await rejected(() => post(`${API}/volumes?volumeID=-`, {}), {
      status: 400,
      reason: 'ID_INVALID',
      field: 'volumeID',
    });
    await rejected(() => post(`${API}/volumes`, { id: '-' }), { status: 400, field: 'volumeID' });
    await rejected(() => post(`${API}/containers?containerID=-`, spec()), { status: 400, field: 'containerID' });
    await rejected(() => post(`${API}/containers`, spec({ id: '-' })), { status: 400, field: 'containerID' });
    await rejected(() => post(`${API}/containers`, spec({ ports: { '-': {} } })), { status: 400, field: 'ports.-' });
  });
});

describe('an image', () => {
  it.each(['--volume=/:/host', '-', ' x', 'a\nb', 'a\tb', '\u007f', 'a\0b', 'x'.repeat(1025)])(
    '%j is rejected at the create',
    async (image) => {
      await rejected(() => post(`${API}/containers`, spec({ image })), { status: 400, field: 'image' });
    },
  );

  it('that the engine of the cluster calls malformed is rejected at the create', async () => {
    engine.imageFault = 'it is spelled wrong';
    await rejected(() => post(`${API}/containers`, spec()), { status: 400, field: 'image' });
    engine.imageFault = undefined;
  });
});

describe('a mount key', () => {
  it.each([
    ['climbs', 'vol:..'],
    ['climbs from within', 'vol:deep/../../x:dir'],
    ['stays where it is', 'vol:./deep'],
    ['is absolute', 'vol:/etc'],
    ['has a NUL', 'vol:deep\0/in'],
    ['has an empty segment', 'vol:deep//in'],
    ['ends in a slash', 'vol:deep/'],
    ['has no path', 'vol:'],
    ['has no path before its kind', 'vol::dir'],
    ['has an unknown kind', 'vol:new:directory'],
    ['has two kinds', 'vol:new:dir:dir'],
    ['has a name of 256 bytes', `vol:${'x'.repeat(256)}:dir`],
    ['has a name of 256 bytes in few characters', `vol:${'\u{1f600}'.repeat(64)}:dir`],
    ['has a path of 4096 bytes', `vol:${'x/'.repeat(2047)}xx:dir`],
    ['means nothing that is there', 'vol:none'],
    ['makes a directory beneath a file', 'vol:file/below:dir'],
    ['makes a directory where a file is', 'vol:file:dir'],
    ['makes a file where a directory is', 'vol:deep:file'],
    ['is a symlink that leads out', 'vol:outward'],
    ['goes through a symlink that leads out', 'vol:outward/ssh'],
    ['makes something through a symlink that leads out', 'vol:outward/new:dir'],
    ['is a symlink that stays inside', 'vol:inward'],
    ['makes something through a symlink that stays inside', 'vol:inward/new/file:file'],
    ['is of a volume of another cluster', 'far'],
    ['is of no volume', 'nothing'],
  ])('that %s is rejected, and no other sub-path is created', async (_, key) => {
    await rejected(() => mounting(key), { status: 400, field: `volumeMounts.${key}` });
    // Sub-paths before it are not created either.
    const body = spec({ volumeMounts: { 'vol:fresh:dir': '/a', [key]: '/v' } });
    await rejected(() => post(`${API}/containers`, body), { status: 400, field: `volumeMounts.${key}` });
  });

  it('of a volume that is not Available is rejected', async () => {
    await rejected(() => mounting('gone'), { status: 400, reason: 'VOLUME_NOT_AVAILABLE' });
  });

  it.each([
    ...[
      'v',
      '/',
      '/.',
      '/a/../b',
      '//',
      '',
      '/proc',
      '/proc/',
      '//proc//self',
      '/proc/../dev',
      '/./proc',
      '/dev',
      '/dev/shm',
    ],
    ...[
      '/sys',
      '/sys/fs/cgroup',
      '/.sluice',
      '/.sluice/first-process',
      `/${'x'.repeat(256)}`,
      `/${'\u{1f600}'.repeat(64)}`,
    ],
    ...[`/${'x/'.repeat(2047)}x`, `/${'\u{1f600}/'.repeat(1000)}`, '/a\nb', '/a\tb', '/a\u007f', '/a\0b'],
  ])('at the mount point %j is rejected', async (point) => {
    await rejected(() => post(`${API}/containers`, spec({ volumeMounts: { vol: point } })), {
      status: 400,
      field: 'volumeMounts.vol',
    });
  });

  it.each(['/process', '/device/x', '/system', '/.sluicex', '/x/proc', '/...'])('at %j is accepted', async (point) => {
    const path = `${API}/containers/near`;
    expect((await post(`${API}/containers?containerID=near`, spec({ volumeMounts: { vol: point } }))).status).toBe(200);
    expect((await http.send('DELETE', path)).status).toBe(204);
  });

  it('is rejected if another has the same mount point, however it is written', async () => {
    const body = spec({ volumeMounts: { vol: '/v', 'vol:deep': '//v/' } });
    await rejected(() => post(`${API}/containers`, body), { status: 400, reason: 'MOUNT_INVALID' });
  });
});

describe('a call that the phase does not allow', () => {
  it.each<[string, () => Promise<RawReply>, Expected]>([
    [
      'cancel of a container that has ended',
      () => post(`${API}/containers/ended:cancel`),
      { status: 400, reason: 'CONTAINER_ENDED' },
    ],
    [
      'undelete of a volume that is not deleted',
      () => post(`${API}/volumes/vol:undelete`),
      { status: 400, reason: 'VOLUME_NOT_DELETING' },
    ],
    [
      'forced deletion of a mounted volume',
      () => http.send('DELETE', `${API}/volumes/vol?force=true`),
      { status: 400, reason: 'VOLUME_MOUNTED' },
    ],
    [
      'an ID in use',
      () => post(`${API}/containers?containerID=live`, spec()),
      { status: 409, reason: 'CONTAINER_ID_TAKEN' },
    ],
    [
      'a retained ID',
      () => post(`${API}/containers?containerID=ended`, spec()),
      { status: 409, reason: 'CONTAINER_ID_TAKEN' },
    ],
    [
      'an ID reserved by a cancel',
      () => post(`${API}/containers?containerID=canceled`, spec()),
      { status: 409, reason: 'CONTAINER_ID_TAKEN' },
    ],
    ['the ID of a volume', () => post(`${API}/volumes?volumeID=vol`, {}), { status: 409, reason: 'VOLUME_ID_TAKEN' }],
    [
      'the ID of a deleted volume',
      () => post(`${API}/volumes?volumeID=gone`, {}),
      { status: 409, reason: 'VOLUME_ID_TAKEN' },
    ],
  ])('%s', (_, call, expected) => rejected(call, expected));
});

/** Every endpoint of one account, with a valid body. */
const CALLS: readonly { method: 'GET' | 'POST' | 'DELETE'; path: string; body?: object }[] = [
  { method: 'POST', path: 'volumes?volumeID=new', body: {} },
  { method: 'DELETE', path: 'volumes/vol' },
  { method: 'DELETE', path: 'volumes/gone?force=true' },
  { method: 'POST', path: 'volumes/gone:undelete' },
  { method: 'POST', path: 'containers?containerID=new', body: spec() },
  { method: 'GET', path: 'containers/live' },
  { method: 'GET', path: 'containers?all=true' },
  { method: 'GET', path: 'containers/live/logs' },
  { method: 'POST', path: 'containers/live:cancel' },
  { method: 'DELETE', path: 'containers/live' },
];

describe.each([...CALLS])('$method $path', ({ method, path, body }) => {
  const call = (scope: string, headers: Record<string, string> = {}) =>
    http.send(method, `/api/v1rc1/clusters/${scope}/${path}`, {
      headers,
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });

  it('without a valid token is 401', async () => {
    for (const authorization of ['', 'Bearer x', 'Bearer', `Basic ${btoa('a:b')}`]) {
      await rejected(() => call('one/accounts/mine', { authorization }), { status: 401 });
    }
  });

  it('on an account that is not the caller’s is 403, whether it exists or not', async () => {
    const replies: string[] = [];
    for (const scope of ['three/accounts/yours', 'three/accounts/mine', 'none/accounts/mine', 'one/accounts/yours']) {
      await rejected(
        async () => {
          const reply = await call(scope);
          replies.push(reply.text);
          return reply;
        },
        { status: 403, reason: 'ACCOUNT_NOT_YOURS' },
      );
    }
    expect(new Set(replies).size).toBe(1);
  });

  it('with a wildcard that is not allowed is 400', async () => {
    // Only endpoint 7 accepts one, for its cluster.
    const scopes = ['one/accounts/-', ...(path.startsWith('containers?containerID') ? [] : ['-/accounts/mine'])];
    for (const scope of scopes) {
      await rejected(() => call(scope), { status: 400, reason: 'WILDCARD_NOT_ALLOWED' });
    }
  });

  it('with an unknown parameter is 400 with its name', async () => {
    const mark = path.includes('?') ? '&' : '?';
    for (const name of ['containerId', 'Force', '__proto__', 'constructor', 'x'.repeat(70)]) {
      const field = name === 'containerID' ? undefined : name;
      await rejected(
        () =>
          http.send(method, `${API}/${path}${mark}${name}=1`, body === undefined ? {} : { body: JSON.stringify(body) }),
        { status: 400, reason: 'PARAMETER_INVALID', ...(field === undefined ? {} : { field }) },
      );
    }
  });
});

describe('a parameter', () => {
  it.each([
    ['GET', 'containers?pageSize=0'],
    ['GET', 'containers?pageSize=-5'],
    ['GET', 'containers?pageSize=1e3'],
    ['GET', 'containers?pageSize=0x10'],
    ['GET', 'containers?pageSize=99999999999999999999'],
    ['GET', 'containers?pageSize=1&pageSize=2'],
    ['GET', 'containers?pageSize[]=1'],
    ['GET', 'containers?all=1'],
    ['GET', 'containers?all=TRUE'],
    ['GET', 'containers?nextPageToken=%00'],
    ['GET', 'containers?nextPageToken=b25lL21pbmU'],
    ['GET', `containers?nextPageToken=${'A'.repeat(2000)}`],
    ['GET', 'containers/live/logs?tail=-1'],
    ['GET', 'containers/live/logs?tail=many'],
    ['GET', 'containers/live/logs?follow=yes'],
    ['DELETE', 'volumes/vol?force=maybe'],
    ['DELETE', 'volumes/vol?force=true&force=true'],
  ] as const)('%s %s is 400', (method, path) =>
    rejected(() => http.send(method, `${API}/${path}`), { status: 400, reason: expect.any(String) }),
  );
});

describe('a field', () => {
  it.each<[string, unknown, Expected & { hint?: string }]>([
    [
      'that is unknown',
      spec({ volumeMount: {} }),
      { status: 400, reason: 'FIELD_UNKNOWN', field: 'volumeMount', hint: 'volumeMounts' },
    ],
    [
      'that is unknown at a deeper level',
      spec({ ports: { a: { http: {} } } }),
      { status: 400, reason: 'FIELD_UNKNOWN', field: 'ports.a.http' },
    ],
    ['that is missing', { image: 'x' }, { status: 400, field: 'instanceType' }],
    ['of another type', spec({ command: 'sleep 1' }), { status: 400, field: 'command' }],
    ['of another type further in', spec({ command: ['a', 1] }), { status: 400, field: 'command.1' }],
    ['with a NUL', spec({ command: ['a\0b'] }), { status: 400, field: 'command.0' }],
    ['that no process could be given', spec({ envs: { 'A=B': 'c' } }), { status: 400, field: 'envs.A=B' }],
    ['without a name', spec({ envs: { '': 'c' } }), { status: 400 }],
    [
      'with too many entries',
      spec({ labels: Object.fromEntries(Array.from({ length: 101 }, (_, i) => [`l${i}`, ''])) }),
      { status: 400, field: 'labels' },
    ],
    ['that says another cluster than the path', spec({ clusterID: 'two' }), { status: 400, field: 'clusterID' }],
    ['that says another account than the path', spec({ accountID: 'yours' }), { status: 400, field: 'accountID' }],
    ['with an unknown instance type', spec({ instanceType: 'huge' }), { status: 400, reason: 'INSTANCE_TYPE_UNKNOWN' }],
    [
      'that requests a host without a port proxy',
      spec({ ports: { web: { https: {} } } }),
      { status: 400, reason: 'PORT_NOT_EXPOSABLE' },
    ],
    [
      'that would set a prototype',
      JSON.parse('{"instanceType":"small","__proto__":{"image":"x"},"constructor":{}}'),
      { status: 400 },
    ],
  ])('%s', async (_, body, { hint, ...expected }) => {
    await rejected(async () => {
      const reply = await post(`${API}/containers?containerID=new`, body);
      if (hint !== undefined) expect(reply.text).toContain(`the nearest known field is '${hint}'`);
      return reply;
    }, expected);
  });
});

describe('a field without a value', () => {
  const made = async (path: string, body: object) => {
    const reply = await post(`${API}/${path}`, body);
    expect(reply.status, reply.text).toBe(200);
    expect(
      (await http.send('DELETE', `${API}/${path.split('?')[0]}/zero?force=true`.replace(/(containers.*)\?.*/, '$1')))
        .status,
    ).toBe(204);
    return reply.json();
  };
  // What a Go program sends for an empty structure; fields without a tag are capitalized.
  const service = {
    username: '',
    password: '',
    Address: { webdav: '', sftp: '', Others: null },
    Tries: 0,
    Ready: false,
  };
  const output = { phase: '', State: '', createTime: '0001-01-01T00:00:00Z', RunTime: 0 };

  it('counts as absent in a volume and in its service', async () => {
    const volume = await made('volumes?volumeID=zero', {
      id: '',
      clusterID: '',
      service,
      phase: '',
      State: '',
      createTime: '0001-01-01T00:00:00Z',
    });
    expect(volume).toMatchObject({
      service: { username: expect.stringMatching(/./), password: expect.stringMatching(/./) },
    });
    expect(await made('volumes?volumeID=zero', { service: null })).not.toHaveProperty('service');
  });

  it('counts as absent in a container and its ports', async () => {
    const ports = { web: { port: 0, https: null }, other: { Port: 0 } };
    const envs = { EMPTY: '' };
    const container = await made('containers?containerID=zero', spec({ id: '', ...output, ports, envs, labels: null }));
    expect(container).toMatchObject({ envs, ports: { web: { port: expect.any(Number) }, other: {} } });
  });

  it.each([
    ['volumes', { service: { username: 'ada' } }, 'service.username'],
    ['volumes', { service: { Address: { webdav: 'https://example.org' } } }, 'service.Address'],
    ['volumes', { phase: 'Available' }, 'phase'],
    ['containers', spec({ ports: { web: { port: 80 } } }), 'ports.web.port'],
    ['containers', spec({ runTime: 1 }), 'runTime'],
  ])('is rejected if it has a value: %s %j', (path, body, field) =>
    rejected(() => post(`${API}/${path}`, body), { status: 400, reason: 'FIELD_UNKNOWN', field }),
  );

  it('must still have the right type if it is known', async () => {
    await rejected(() => post(`${API}/volumes`, { service: 0 }), { status: 400, field: 'service' });
    await rejected(() => post(`${API}/containers`, spec({ command: 0 })), { status: 400, field: 'command' });
    await rejected(() => post(`${API}/containers`, spec({ ports: 0 })), { status: 400, field: 'ports' });
  });
});

describe('a body', () => {
  const bomb = gzipSync(Buffer.alloc(20_000_000));
  it.each(['gzip', 'x-gzip', 'deflate', 'br', 'zstd', 'identity, gzip', 'GZIP'])(
    'that is compressed by %s is rejected unread',
    async (encoding) => {
      for (const path of [`${API}/containers`, `${API}/volumes`, `${API}/containers/live:cancel`, '/user/api/login']) {
        await rejected(() => http.send('POST', path, { headers: { 'content-encoding': encoding }, body: bomb }), {
          status: 400,
        });
      }
    },
  );

  it.each([
    'text/plain',
    'application/x-www-form-urlencoded',
    'multipart/form-data; boundary=x',
    'application/xml',
    'json',
  ])('of type %s is rejected', async (type) => {
    const send = (path: string) =>
      http.send('POST', path, { headers: { 'content-type': type }, body: JSON.stringify(spec()) });
    for (const path of ['containers', 'volumes', 'containers/live:cancel']) {
      await rejected(() => send(`${API}/${path}`), { status: 400, reason: 'BODY_TYPE_UNSUPPORTED' });
    }
  });

  it('cannot override the method of the request line', async () => {
    const headers = { 'x-http-method-override': 'DELETE', 'x-method-override': 'DELETE', 'x-http-method': 'DELETE' };
    const before = await everything();
    expect((await http.send('GET', `${API}/containers/live?`, { headers })).status).toBe(200);
    await rejected(() => http.send('POST', `${API}/containers/live`, { headers }), { status: 404 });
    expect(await everything()).toEqual(before);
  });
});

describe('a login', () => {
  it.each([
    ['without fields', ''],
    ['without a password', 'email=ada%40example.org'],
    ['with two addresses', `${loginForm('ada@example.org', 'x')}&email=bob%40example.org`],
    ['of another kind', 'token_type=COOKIE&third_party=SELF&email=a&password=b'],
    ['with a very long address', loginForm(`${'a'.repeat(400)}@example.org`, 'x')],
    ['with a NUL in the address', loginForm('ada\0@example.org', 'x')],
  ])('%s is rejected', async (_, body) => {
    const headers = { 'content-type': 'application/x-www-form-urlencoded', authorization: '' };
    const reply = await http.send('POST', '/user/api/login', { headers, body });
    expect(reply.status).toBeOneOf([400, 401]);
    expect(reply.json()).toMatchObject({ code: reply.status, message: expect.any(String) });
    expect(reply.headers).not.toHaveProperty('svc_token');
  });
});

describe('a link that is swapped in during the request', () => {
  it('never leaves the volume', async () => {
    const volume = join(http.rig.root, 'clusters/one/volumes/mine/vol');
    mkdirSync(join(volume, 'swap'));
    symlinkSync(outside, join(volume, 'link'));
    const script = `
      const { renameSync } = require('fs');
      process.chdir(process.argv[1]);
      for (;;) for (const [from, to] of [['swap', 'kept'], ['link', 'swap'], ['swap', 'link'], ['kept', 'swap']]) renameSync(from, to);`;
    const swapping = spawn(process.execPath, ['-e', script, volume], { stdio: 'ignore' });
    const statuses = new Set<number>();
    for (let i = 0; i < 150; i++)
      statuses.add((await mounting(`vol:swap/n${i}:${i % 2 === 0 ? 'dir' : 'file'}`)).status);
    swapping.kill('SIGKILL');
    expect([...statuses].filter((status) => status !== 200 && status !== 400)).toEqual([]);
    expect(readdirSync(outside, { recursive: true })).toEqual(['ssh']);
  });
});
