import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { openSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { createServer, request } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import { Pool } from 'undici';
import { EngineRig } from '../engine-rig.ts';
import type { CreateEngine, EngineUnderTest } from '../engine-under-test.ts';
import create from './create-engine.ts';

const {
  SLUICE_TEST_DOCKER_SOCKET: socketPath,
  SLUICE_TEST_DOCKER_STATE: state,
  SLUICE_TEST_DOCKER_IMAGE: image,
} = process.env;

/** Whether `.ci/start-docker.sh` has started a daemon; in CI its absence is a failure, elsewhere a visible skip. */
export const hasDocker = socketPath !== undefined;

/** What the contract knows of containers without a first process of ours. */
export const BARE = { ordersStreams: false, pipesLog: false, keepsBytes: false, holdsSwappedLinks: false };

/** What the contract knows of this engine. */
export function dockerSubject(): EngineUnderTest {
  return {
    ...(image === undefined ? {} : { image }),
    module: '',
    ordersStreams: true,
    pipesLog: true,
    keepsBytes: true,
    memoryLimit: 'tree',
    coreLimit: true,
    mounts: 10_000,
    patienceMs: 240_000,
    hostRoot: false,
    hidesInit: false,
    rejectsMissingCommand: true,
    holdsSwappedLinks: true,
  };
}

export function dockerRig(createEngine: CreateEngine = create, directory?: string): EngineRig {
  return new EngineRig(createEngine, { ...dockerSubject(), ...(directory === undefined ? {} : { directory }) });
}

interface CallOptions {
  readonly query?: Readonly<Record<string, string>>;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
  readonly signal?: AbortSignal;
}

/** A call to the daemon past the engine, as a person at the machine may make it; gives status and text. */
export async function daemonCall(method: 'GET' | 'POST' | 'DELETE', path: string, options: CallOptions = {}) {
  const pool = new Pool('http://localhost', { socketPath: socketPath ?? '' });
  try {
    const reply = await pool.request({
      method,
      path: options.query ? `${path}?${new URLSearchParams(options.query)}` : path,
      headers: { 'content-type': 'application/json', ...options.headers },
      body: options.body === undefined ? null : JSON.stringify(options.body),
      ...(options.signal ? { signal: options.signal } : {}),
    });
    return { status: reply.statusCode, text: await reply.body.text() };
  } finally {
    await pool.destroy();
  }
}

/** The body of an answer, as it comes. */
export async function daemonStream(path: string): Promise<AsyncIterable<Uint8Array>> {
  const reply = await new Pool('http://localhost', { socketPath: socketPath ?? '' }).request({ method: 'GET', path });
  return reply.body;
}

/** Its status alone. */
export async function daemon(method: 'GET' | 'POST' | 'DELETE', path: string): Promise<number> {
  return (await daemonCall(method, path)).status;
}

/** Makes `name` from the test image with changes as in a Dockerfile (`ENTRYPOINT …`). */
export async function makeImage(name: string, changes: readonly string[]): Promise<void> {
  const container = await daemonCall('POST', '/containers/create', { body: { Image: image, Cmd: ['true'] } });
  const { Id } = JSON.parse(container.text) as { Id: string };
  const query = { container: Id, repo: name, changes: changes.join('\n') };
  const made = await daemonCall('POST', '/commit', { query, body: {} });
  await daemon('DELETE', `/containers/${Id}`);
  if (made.status !== 201) throw new Error(`could not make the image ${name}: ${made.text}`);
}

/**
 * A socket at `path` in front of the daemon at `daemonPath`. `before` is awaited before each call is handed on, so that a test can do
 * between two calls of the engine what somebody at the machine might.
 */
export async function interpose(
  { path, daemonPath = socketPath }: { path: string; daemonPath?: string | undefined },
  before: (call: string) => Promise<void>,
): Promise<() => Promise<void>> {
  const server = createServer(async (from, reply) => {
    const { method, url, headers } = from;
    await before(`${method} ${url}`);
    const onward = request({ socketPath: daemonPath, method, path: url, headers, agent: false }, (answer) => {
      reply.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(reply);
    });
    onward.once('error', () => reply.destroy());
    reply.once('close', () => onward.destroy());
    from.pipe(onward);
  });
  server.listen(path);
  await once(server, 'listening');
  return async () => {
    server.closeAllConnections();
    server.close();
  };
}

/**
 * Kills the daemon and what watches over its containers, containerd and its shims, as a crash does; the containers run
 * on. After `work` the daemon is started again with the arguments that it had.
 */
export async function duringOutage(work: () => Promise<void>): Promise<void> {
  const pid = Number(readFileSync(`${state}/docker.pid`, 'utf8'));
  const [command = '', ...args] = commandOf(pid);
  for (const victim of [pid, ...supervisors()]) process.kill(victim, 'SIGKILL');
  try {
    await work();
  } finally {
    // Whoever started the old ones may not have buried them yet, and their successors would wait for them.
    for (const file of ['docker.pid', 'exec/containerd/containerd.pid']) rmSync(`${state}/${file}`, { force: true });
    await startDaemon(command, args);
  }
}

async function startDaemon(command: string, args: readonly string[]): Promise<void> {
  const log = openSync(`${state}/dockerd.log`, 'a');
  for (let tries = 0; tries < 150; tries++) {
    // A daemon that finds the old one's remains gives up; the next one finds them gone.
    if (tries % 50 === 0) spawn(command, args, { detached: true, stdio: ['ignore', log, log] }).unref();
    await pause(200);
    if ((await daemon('GET', '/_ping').catch(() => 0)) === 200) return;
  }
  throw new Error('could not see the daemon answer again within 30 s');
}

/** containerd before its shims: it would end the container of a shim that it sees die. */
function supervisors(): number[] {
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  const found = pids.map((pid) => ({ pid: Number(pid), words: commandOf(Number(pid)) }));
  const running = (program: RegExp) =>
    found.filter(({ words: [command = '', ...args] }) => {
      return program.test(command) && args.some((arg) => arg.includes(`${state}/exec/`));
    });
  return [...running(/containerd$/), ...running(/containerd-shim[^/]*$/)].map(({ pid }) => pid);
}

function commandOf(pid: number): string[] {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0').slice(0, -1);
  } catch {
    return [];
  }
}
