import { once } from 'node:events';
import { appendFileSync, mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

interface FakeContainer {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  /** Path of the file that a first process would write. */
  readonly record: string | undefined;
  status: 'created' | 'running' | 'exited';
}

/** A daemon that runs nothing: its containers start at once and end only when they are stopped. */
export interface FakeDocker {
  readonly socketPath: string;
  /** Method and path of each request so far, without the version. */
  readonly calls: readonly string[];
  close(): void;
}

const NEVER = '0001-01-01T00:00:00Z';

export async function createFakeDocker(): Promise<FakeDocker> {
  const directory = mkdtempSync(join(tmpdir(), 'sluice-fake-docker-'));
  const socketPath = join(directory, 'docker.sock');
  const containers = new Map<string, FakeContainer>();
  const calls: string[] = [];
  const server = createServer(async (from, reply) => {
    const url = new URL(from.url ?? '/', 'http://localhost');
    const path = url.pathname.replace(/^\/v[\d.]+/, '');
    calls.push(`${from.method} ${path}`);
    const chunks: Buffer[] = [];
    for await (const chunk of from) chunks.push(chunk as Buffer);
    const body = chunks.length > 0 ? JSON.parse(Buffer.concat(chunks).toString()) : {};
    const send = (status: number, value: unknown = {}) => {
      reply.writeHead(status, { 'api-version': '1.41', 'content-type': 'application/json' });
      reply.end(status === 204 || status === 304 ? undefined : JSON.stringify(value));
    };
    if (path === '/events') return void reply.writeHead(200).flushHeaders();
    if (path === '/_ping' || path === '/info') return send(200);
    if (path.startsWith('/images/')) return send(200, { Config: {} });
    if (path === '/containers/json') return send(200, [...containers.values()].map(listed));
    if (path === '/containers/create') {
      const name = url.searchParams.get('name') ?? '';
      containers.set(name, { name, labels: body.Labels, record: recordOf(body), status: 'created' });
      return send(201, { Id: name });
    }
    const [, , name = '', action] = path.split('/');
    const container = containers.get(name);
    if (container === undefined) return send(404, { message: 'no such container' });
    if (action === 'json') return send(200, inspected(container));
    if (action === 'start') {
      container.status = 'running';
      if (container.record !== undefined) appendFileSync(container.record, `started ${Date.now()}\n`);
    }
    if (action === 'stop') container.status = 'exited';
    return send(204);
  });
  server.listen(socketPath);
  await once(server, 'listening');
  return {
    socketPath,
    calls,
    close() {
      server.closeAllConnections();
      server.close();
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

function recordOf(body: { HostConfig?: { Mounts?: { Source: string; Target: string }[] } }): string | undefined {
  return body.HostConfig?.Mounts?.find(({ Target }) => Target === '/.sluice/record')?.Source;
}

function listed({ name, labels, status }: FakeContainer) {
  return { Id: name, Labels: labels, State: status };
}

function inspected({ name, labels, status }: FakeContainer) {
  const now = new Date().toISOString();
  const times = { StartedAt: status === 'created' ? NEVER : now, FinishedAt: status === 'exited' ? now : NEVER };
  return { Id: name, Config: { Labels: labels }, State: { Status: status, ExitCode: 143, ...times } };
}
