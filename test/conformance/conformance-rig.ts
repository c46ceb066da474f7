import { createHash, randomBytes } from 'node:crypto';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { until } from '@sluice/client/contract';
import { createService, openUserDirectory, type Service, serviceConfigSchema } from '@sluice/service';
import { Agent, Client, type Dispatcher, request } from 'undici';
import { expect } from 'vitest';
import { faultyEngine } from './faulty-engine.ts';
import { MovableClock } from './movable-clock.ts';

/** The first user's accounts. */
export const NORTH = 'clusters/north/accounts/lab';
export const SOUTH = 'clusters/south/accounts/lab';
/** The second user's, in a cluster that loses its containers; and one there that is nobody's. */
export const OTHER = 'clusters/faulty/accounts/other';
export const NOBODY = 'clusters/faulty/accounts/nobody';
export const USER = { email: 'ada@example.org', password: 'correct horse' };
const OTHER_USER = { email: 'bob@example.org', password: 'battery staple' };

export type Fields = Record<string, unknown>;

export interface Answer {
  readonly status: number;
  readonly headers: Dispatcher.ResponseData['headers'];
  readonly text: string;
  /** The body as a JSON object; fails where it is none. */
  json(): Fields;
}

export interface Call {
  readonly query?: Readonly<Record<string, string | number | boolean>>;
  /** An object is sent as JSON, a string as it is. */
  readonly body?: Fields | string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Default: the first user's; null sends none. */
  readonly token?: string | null;
}

/** Raw HTTP to a real service; no code of our client is in between. */
export interface ConformanceRig {
  /** Origin of the API and of the login. */
  readonly origin: string;
  /** The service's own directory, to break what is beneath it. */
  readonly root: string;
  readonly token: string;
  readonly otherUserToken: string;
  /** `path` is below `/api/v1rc1/`, or from the root where it begins with a slash. */
  call(method: string, path: string, call?: Call): Promise<Answer>;
  /** The reply with its body unread. */
  open(method: string, path: string, call?: Call): Promise<Dispatcher.ResponseData>;
  login(fields: Readonly<Record<string, string>>): Promise<Answer>;
  /** GET over HTTPS from an exposed port, as a browser that trusts the service's own authority. */
  throughProxy(host: string, path: string): Promise<Answer>;
  advance(ms: number): Promise<void>;
  close(): Promise<void>;
}

export type Rig = () => ConformanceRig;

export async function openConformanceRig(): Promise<ConformanceRig> {
  const root = await mkdtemp(join(tmpdir(), 'sluice-conformance-'));
  const clock = new MovableClock();
  const service = await createService({ config: configuration(root), clock, engines: { faulty: faultyEngine } });
  const users = await openUserDirectory(root);
  await users.add({ ...USER, name: 'Ada' });
  await users.add(OTHER_USER);
  for (const clusterID of ['north', 'south']) await users.grant(USER.email, { clusterID, accountID: 'lab' });
  await users.grant(OTHER_USER.email, { clusterID: 'faulty', accountID: 'other' });
  await users.close();
  return serve(service, { root, clock });
}

function configuration(root: string) {
  const capacity = { cpu: 64, memory: '64GB' };
  const instanceType = (id: string) => ({ id, cpu: 1, memory: '1GB', cpuModel: 'Test CPU' });
  return serviceConfigSchema.parse({
    root,
    cancelGrace: '1s',
    sftp: { host: '127.0.0.1', port: 0 },
    ports: { host: '127.0.0.1', port: 0, domain: 'ports.test' },
    clusters: [
      {
        id: 'north',
        engine: 'process',
        capacity,
        accounts: ['lab'],
        instanceTypes: [instanceType('n-small')],
      },
      { id: 'south', engine: 'process', capacity, accounts: ['lab'], instanceTypes: [instanceType('s-small')] },
      { id: 'faulty', engine: 'faulty', accounts: ['other', 'nobody'], instanceTypes: [instanceType('f-small')] },
    ],
  });
}

async function serve(
  service: Service,
  { root, clock }: { root: string; clock: MovableClock },
): Promise<ConformanceRig> {
  const { url: origin } = await service.listen({ host: '127.0.0.1', port: 0 });
  const agent = new Agent({ headersTimeout: 20_000, bodyTimeout: 20_000 });
  let token = '';
  const open: ConformanceRig['open'] = (method, path, call = {}) => {
    const query = new URLSearchParams();
    for (const [name, value] of Object.entries(call.query ?? {})) query.set(name, String(value));
    const bearer = call.token === undefined ? token : call.token;
    const json = typeof call.body === 'object';
    return request(
      `${origin}${path.startsWith('/') ? path : `/api/v1rc1/${path}`}${query.size > 0 ? `?${query}` : ''}`,
      {
        dispatcher: agent,
        method: method as Dispatcher.HttpMethod,
        headers: {
          ...(bearer === null ? {} : { authorization: `Bearer ${bearer}` }),
          ...(json ? { 'content-type': 'application/json' } : {}),
          ...call.headers,
        },
        ...(call.body === undefined ? {} : { body: json ? JSON.stringify(call.body) : String(call.body) }),
      },
    );
  };
  const call: ConformanceRig['call'] = async (...args) => toAnswer(await open(...args));
  const login: ConformanceRig['login'] = (fields) =>
    call('POST', '/user/api/login', {
      body: new URLSearchParams(fields).toString(),
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      token: null,
    });
  const tokenOf = async (user: { email: string; password: string }) => {
    const answer = await login(loginFields(user));
    expect(answer.status, answer.text).toBe(200);
    return String(answer.headers.svc_token);
  };
  token = await tokenOf(USER);
  return {
    ...{ origin, root, token, call, open, login },
    otherUserToken: await tokenOf(OTHER_USER),
    async throughProxy(host, path) {
      const [servername = '', port = '443'] = host.split(':');
      const ca = await readFile(join(root, 'authority', 'authority.pem'), 'utf8');
      const client = new Client(`https://127.0.0.1:${port}`, { connect: { ca, servername } });
      try {
        return await toAnswer(await client.request({ method: 'GET', path, headers: { host } }));
      } finally {
        await client.close();
      }
    },
    advance: (ms) => clock.advance(ms),
    async close() {
      await agent.destroy();
      await service.close();
      await rm(root, { recursive: true, force: true, maxRetries: 10 });
    },
  };
}

async function toAnswer(reply: Dispatcher.ResponseData): Promise<Answer> {
  const text = await reply.body.text();
  return {
    status: reply.statusCode,
    headers: reply.headers,
    text,
    json: () => {
      expect(String(reply.headers['content-type'])).toMatch(/^application\/json/);
      const body: unknown = JSON.parse(text);
      expect(body).toBeTypeOf('object');
      return body as Fields;
    },
  };
}

/** The form of the login, with the MD5 that the protocol wants. */
export function loginFields({ email, password }: { email: string; password: string }): Record<string, string> {
  const md5 = createHash('md5').update(password).digest('hex');
  return { token_type: 'TOKEN', third_party: 'SELF', email, password: md5 };
}

export const freshId = (name: string) => `${name}-${randomBytes(4).toString('hex')}`;

/** Creates a container with a shell command in `account` and gives its ID; the create must succeed. */
export async function start(rig: ConformanceRig, script: string, options: Fields & { account?: string } = {}) {
  const { account = NORTH, ...fields } = options;
  const id = freshId('c');
  const instanceType = account === SOUTH ? 's-small' : 'n-small';
  const body = { instanceType, command: ['sh', '-c', script], ...fields };
  const answer = await rig.call('POST', `${account}/containers`, { query: { containerID: id }, body });
  expect(answer.status, answer.text).toBe(200);
  return { id, path: `${account}/containers/${id}`, created: answer.json() };
}

/** Waits until the container is in one of `phases`, and gives it. */
export async function reach(rig: ConformanceRig, path: string, ...phases: string[]): Promise<Fields> {
  return until(`${path} in phase ${phases.join(' or ')}`, async () => {
    const container = (await rig.call('GET', path)).json();
    return phases.includes(String(container.phase)) && container;
  });
}

export const ENDS = ['Succeeded', 'Failed', 'Unknown', 'Canceled'];

/** Creates a volume in `account`, waits until it is available, and gives the create reply. */
export async function makeVolume(rig: ConformanceRig, options: { account?: string; body?: Fields } = {}) {
  const { account = NORTH, body = {} } = options;
  const id = freshId('v');
  const answer = await rig.call('POST', `${account}/volumes`, { query: { volumeID: id }, body });
  expect(answer.status, answer.text).toBe(200);
  await until(`volume ${id} available`, async () => (await findVolume(rig, id, account))?.phase === 'Available');
  return { id, path: `${account}/volumes/${id}`, created: answer.json() };
}

/** The volume's list item. */
export async function findVolume(rig: ConformanceRig, id: string, account = NORTH): Promise<Fields | undefined> {
  return (await items(rig, `${account}/volumes`, 'volumes')).find((it) => it.id === id);
}

/** All items of a list, by its pages. */
export async function items(
  rig: ConformanceRig,
  path: string,
  name: 'containers' | 'volumes',
  query: Call['query'] = {},
): Promise<Fields[]> {
  const found: Fields[] = [];
  let nextPageToken = '';
  do {
    const page = (await rig.call('GET', path, { query: { ...query, nextPageToken } })).json();
    found.push(...(page[name] as Fields[]));
    nextPageToken = String(page.nextPageToken);
  } while (nextPageToken !== '');
  return found;
}
