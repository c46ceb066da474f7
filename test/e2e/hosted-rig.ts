import { createHash } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createHttpService, obtainToken, type Scope } from '@sluice/client';
import { createPlan, parsePipeline } from '@sluice/core';
import { createHostMetrics, MAX_PART_BYTES, type RunFileName, type StartBody } from '@sluice/host';
import { readRunLogins, submitRun } from '@sluice/runner';
import { createService, createServiceLog, openUserDirectory } from '@sluice/service';
import { afterAll, beforeAll } from 'vitest';
import { createRunHosting } from '../../packages/cli/src/serving/host-runs.ts';
import { parseServiceConfigText } from '../../packages/cli/src/serving/read-service-config.ts';

const SCOPE = { clusterID: 'main', accountID: 'physics' };
/** Another account of the server, on a cluster of its own. */
export const NEIGHBOR = { clusterID: 'other', accountID: 'physics' };
const PASSWORD = 'sesame';

/** A service with accounts, in this process. */
export interface HostedServer {
  readonly directory: string;
  readonly url: string;
  /** The API of an account. */
  readonly api: string;
  /** Of the user who has the account, and of one who has none. */
  readonly tokens: { readonly member: string; readonly nonMember: string };
  /** Ends it as if the process had been killed, if it is to be opened again. */
  close(): Promise<void>;
}

interface PlaceOptions {
  readonly hasNeighbor?: boolean;
  /** Of the cluster. Default: processes. */
  readonly engine?: { readonly name: string; readonly options: Readonly<Record<string, unknown>> };
  /** Receives the lines of the server's log. */
  readonly log?: (line: string) => void;
}

/** A directory for servers, one after the other. */
export function createHostedPlace(
  extra = '',
  { hasNeighbor = false, engine = PROCESSES, log }: PlaceOptions = {},
): {
  readonly directory: string;
  /** With another text at the end of the configuration than before, if it is given. */
  open(changed?: string): Promise<HostedServer>;
  remove(): void;
} {
  const directory = mkdtempSync(join(tmpdir(), 'sluice-hosted-'));
  return {
    directory,
    open: (changed = extra) =>
      openServer(directory, { extra: `${hasNeighbor ? NEIGHBOR_CLUSTER : ''}${changed}`, engine, log }),
    remove: () => rmSync(directory, { recursive: true, force: true }),
  };
}

/** A server for all tests of a file. It must not be used before they begin. */
export function useHostedServer(...given: Parameters<typeof createHostedPlace>): Omit<HostedServer, 'close'> {
  const place = createHostedPlace(...given);
  let server: HostedServer | undefined;
  const opened = () => {
    if (server === undefined) throw new Error('the server is not open yet');
    return server;
  };
  beforeAll(async () => {
    server = await place.open();
  });
  afterAll(async () => {
    await server?.close();
    place.remove();
  });
  return {
    directory: place.directory,
    get url() {
      return opened().url;
    },
    get api() {
      return opened().api;
    },
    get tokens() {
      return opened().tokens;
    },
  };
}

const NEIGHBOR_CLUSTER = `  - id: other
    engine: process
    capacity: { cpu: 4, memory: 4GB }
    accounts: [physics]
    instanceTypes: [{ id: small, cpu: 1, memory: 1GB }]
`;

const PROCESSES = { name: 'process', options: {} };

async function openServer(
  directory: string,
  given: { extra: string; engine: NonNullable<PlaceOptions['engine']>; log: PlaceOptions['log'] },
): Promise<HostedServer> {
  const { extra, engine, log: onLine } = given;
  const text = `
root: ${directory}/data
cancelGraceSeconds: 1
clusters:
  - id: main
    engine: ${engine.name}
    options: ${JSON.stringify(engine.options)}
    capacity: { cpu: 4, memory: 4GB }
    accounts: [physics]
    instanceTypes: [{ id: small, cpu: 1, memory: 1GB }]
${extra}`;
  const config = parseServiceConfigText(text, { file: 'service.yaml', directory });
  if (!config.ok) throw new Error(config.error.message);
  const log = onLine
    ? createServiceLog({ to: { write: onLine } })
    : createServiceLog({ level: process.env.HOSTED_LOG ?? 'fatal' });
  const metrics = createHostMetrics();
  const hosting = createRunHosting(config.value, { log, metrics });
  const service = await createService({
    ...{ config: config.value.service, log, extend: hosting.extend, sealer: hosting.sealer },
    metrics: metrics.read,
  });
  await addUsers(join(directory, 'data'), extra.startsWith(NEIGHBOR_CLUSTER));
  hosting.open(service);
  const { url } = await service.listen({ host: '127.0.0.1', port: 0 });
  const login = (email: string) => obtainToken({ baseUrl: url, login: { email, password: PASSWORD } });
  return {
    ...{ directory, url, api: `${url}/api/sluice/v1/clusters/main/accounts/physics` },
    tokens: { member: await login('member@example.org'), nonMember: await login('other@example.org') },
    async close() {
      await hosting.close();
      await service.close();
    },
  };
}

/** The same server for the user of the account `NEIGHBOR`. */
export function neighborOf({ directory, url, tokens }: Omit<HostedServer, 'close'>): Omit<HostedServer, 'close'> {
  const { clusterID, accountID } = NEIGHBOR;
  const api = `${url}/api/sluice/v1/clusters/${clusterID}/accounts/${accountID}`;
  return { directory, url, api, tokens: { ...tokens, member: tokens.nonMember } };
}

async function addUsers(root: string, hasNeighbor: boolean): Promise<void> {
  const users = await openUserDirectory(root);
  if (users.list().length === 0) {
    await users.add({ email: 'member@example.org', password: PASSWORD });
    await users.add({ email: 'other@example.org', password: PASSWORD });
    await users.grant('member@example.org', SCOPE);
    if (hasNeighbor) await users.grant('other@example.org', NEIGHBOR);
  }
  await users.close();
}

/** A run that a client has recorded, and that nobody executes. */
export interface RecordedRun {
  readonly runId: string;
  readonly home: string;
  readonly files: Readonly<Record<RunFileName, Buffer>>;
  readonly start: StartBody;
}

interface RecordOptions {
  readonly secrets?: Readonly<Record<string, string>>;
  readonly baseDir?: string;
  readonly scope?: Scope;
}

/** Records a run in a home of the client, with the service of the server. */
export async function recordRun(
  server: Pick<HostedServer, 'url' | 'directory' | 'tokens'>,
  text: string,
  { secrets = {}, baseDir = server.directory, scope = SCOPE }: RecordOptions = {},
): Promise<RecordedRun> {
  const parsed = parsePipeline({ text, file: 'pipeline.yaml' });
  if (!parsed.ok) throw new Error(JSON.stringify(parsed.error));
  const plan = createPlan(parsed.value.pipeline);
  if (!plan.ok) throw new Error(JSON.stringify(plan.error));
  const home = join(server.directory, 'client');
  const service = createHttpService({ baseUrl: server.url, token: server.tokens.member });
  try {
    const submitted = await submitRun(
      { ...{ plan: plan.value, service, scope, home, baseDir }, secrets: (name) => secrets[name] },
      { isElsewhere: true },
    );
    if (!submitted.ok) throw new Error(submitted.error.message);
    const { runId } = submitted.value;
    return { ...(await readRecorded(home, runId)), start: { ...(await readRecorded(home, runId)).start, secrets } };
  } finally {
    await service.close();
  }
}

/** The files of a run in the home of the client as they are now. */
export async function readRecorded(home: string, runId: string): Promise<RecordedRun> {
  const read = (name: RunFileName) => readFileSync(join(home, 'runs', runId, name));
  const files = { 'plan.json': read('plan.json'), 'journal.ndjson': read('journal.ndjson') };
  const start = {
    files: { 'plan.json': digestOf(files['plan.json']), 'journal.ndjson': digestOf(files['journal.ndjson']) },
    logins: await readRunLogins(home, runId),
  };
  return { runId, home, files, start };
}

/** As the API announces the content of a file. */
export function digestOf(bytes: Uint8Array): { size: number; sha256: string } {
  return { size: bytes.length, sha256: createHash('sha256').update(bytes).digest('hex') };
}

interface Reply {
  readonly status: number;
  readonly body: {
    readonly status?: string;
    readonly message?: string;
    readonly details?: readonly { readonly reason: string }[];
    readonly journal?: { readonly size: number; readonly sha256: string };
    readonly files?: unknown;
    readonly states?: readonly string[];
    readonly attempts?: readonly unknown[];
  };
}

/** Requests of one user about the runs of the account. */
export function createCaller(server: Pick<HostedServer, 'api' | 'tokens'>, token = server.tokens.member) {
  const call = (method: string, path: string, body?: unknown) => {
    const isBytes = body instanceof Uint8Array;
    const type = isBytes ? 'application/octet-stream' : 'application/json';
    return fetch(`${server.api}${path}`, {
      method,
      headers: { authorization: `Bearer ${token}`, ...(body !== undefined && { 'content-type': type }) },
      ...(body !== undefined && { body: isBytes ? body : JSON.stringify(body) }),
    });
  };
  const json = async (method: string, path: string, body?: unknown): Promise<Reply> => {
    const reply = await call(method, path, body);
    return { status: reply.status, body: (await reply.json()) as Reply['body'] };
  };
  const put = (runId: string, name: RunFileName, bytes: Uint8Array, offset = 0) =>
    json('PUT', `/runs/${runId}/files/${name}?offset=${offset}`, bytes);
  return {
    call,
    json,
    put,
    async send({ runId, files }: Pick<RecordedRun, 'runId' | 'files'>) {
      await put(runId, 'plan.json', files['plan.json']);
      const journal = files['journal.ndjson'];
      for (let offset = 0; ; offset += MAX_PART_BYTES) {
        const sent = await put(runId, 'journal.ndjson', journal.subarray(offset, offset + MAX_PART_BYTES), offset);
        if (offset + MAX_PART_BYTES >= journal.length) return sent;
      }
    },
    start: ({ runId, start }: Pick<RecordedRun, 'runId' | 'start'>) => json('POST', `/runs/${runId}:start`, start),
    release: (runId: string) => json('POST', `/runs/${runId}:release`, {}),
    async status(runId: string): Promise<string | undefined> {
      return (await json('GET', `/runs/${runId}`)).body.status;
    },
  };
}
