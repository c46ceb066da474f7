import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createHttpService, obtainToken, type Scope } from '@sluice/client';
import { createPlan, ok, parsePipeline } from '@sluice/core';
import { createRunId } from '@sluice/home';
import { createHostMetrics, type OrderBody } from '@sluice/host';
import { type OrderedData, provisionOrder } from '@sluice/runner';
import { createService, createServiceLog, openUserDirectory } from '@sluice/service';
import { afterAll, beforeAll } from 'vitest';
import { createRunHosting } from '../../packages/cli/src/hosting/host-runs.ts';
import { parseServiceConfigText } from '../../packages/cli/src/hosting/read-service-config.ts';

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
cancelGrace: 1s
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

/** A run that a client can order: its sources are uploaded. */
export interface PreparedOrder {
  readonly runId: string;
  readonly body: OrderBody;
  /** Of its volume in the account; empty if it needs none. */
  readonly workspaceId: string;
}

interface PrepareOptions {
  readonly secrets?: Readonly<Record<string, string>>;
  readonly baseDir?: string;
  readonly scope?: Scope;
  readonly params?: Readonly<Record<string, string>>;
}

/** Prepares the order of a run as a client does, with a home of the client. */
export async function prepareOrder(
  server: Pick<HostedServer, 'url' | 'directory' | 'tokens'>,
  text: string,
  { secrets = {}, baseDir = server.directory, scope = SCOPE, params = {} }: PrepareOptions = {},
): Promise<PreparedOrder> {
  const parsed = parsePipeline({ text, file: 'pipeline.yaml' });
  if (!parsed.ok) throw new Error(JSON.stringify(parsed.error));
  const plan = createPlan(parsed.value.pipeline, { params });
  if (!plan.ok) throw new Error(JSON.stringify(plan.error));
  const home = join(server.directory, 'client');
  const runId = createRunId();
  const service = createHttpService({ baseUrl: server.url, token: server.tokens.member });
  try {
    const given = { plan: plan.value, service, scope, home, baseDir, runId, secrets: (name: string) => secrets[name] };
    const provisioned = await provisionOrder<OrderedData, never>(given, async (data) => ok(data));
    if (!provisioned.ok) throw new Error(provisioned.error.message);
    const { workspace } = provisioned.value;
    const body: OrderBody = {
      order: { file: join(baseDir, 'pipeline.yaml'), params },
      pipeline: { file: 'pipeline.yaml', texts: { 'pipeline.yaml': text } },
      ...{ ...provisioned.value, secrets },
    };
    return { runId, body, workspaceId: workspace?.volumeId ?? '' };
  } finally {
    await service.close();
  }
}

interface Reply {
  readonly status: number;
  readonly body: {
    readonly status?: string;
    readonly message?: string;
    readonly details?: readonly { readonly reason: string }[];
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
  return {
    call,
    json,
    order: ({ runId, body }: Pick<PreparedOrder, 'runId' | 'body'>) => json('PUT', `/runs/${runId}`, body),
    async status(runId: string): Promise<string | undefined> {
      return (await json('GET', `/runs/${runId}`)).body.status;
    },
  };
}
