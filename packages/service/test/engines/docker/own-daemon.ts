import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { openSync, readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Pool } from 'undici';
import { vi } from 'vitest';
import { daemonStream } from './docker-rig.ts';

/** A Docker daemon of the test's own, with the test image, that ends its containers when it is restarted. */
export interface OwnDaemon {
  readonly socketPath: string;
  /** Ends the daemon as a service manager does, and starts it again. */
  restart(): Promise<void>;
  /** Stops its process, or lets it go on: connections are taken and not answered. */
  signal(signal: 'SIGSTOP' | 'SIGCONT'): void;
  call(method: 'GET' | 'POST' | 'DELETE', path: string): Promise<{ status: number; text: string }>;
  close(): Promise<void>;
}

const PATIENCE = { timeout: 90_000, interval: 100 };

export async function openOwnDaemon(image: string): Promise<OwnDaemon> {
  const directory = await mkdtemp(join(tmpdir(), 'sluice-dockerd-'));
  const socketPath = join(directory, 'socket');
  const args = [
    ...['--host', `unix://${socketPath}`, '--pidfile', join(directory, 'pid')],
    ...['--data-root', join(directory, 'data'), '--exec-root', join(directory, 'exec')],
    ...['--bridge', 'none', '--iptables=false', '--ip-masq=false'],
  ];
  let child: ChildProcess;

  async function call(method: 'GET' | 'POST' | 'DELETE', path: string, body?: AsyncIterable<Uint8Array>) {
    const pool = new Pool('http://localhost', { socketPath });
    try {
      const headers = { 'content-type': 'application/x-tar' };
      const reply = await pool.request({ method, path, ...(body && { body: body as never, headers }) });
      return { status: reply.statusCode, text: await reply.body.text() };
    } finally {
      await pool.destroy();
    }
  }

  async function start(): Promise<void> {
    const log = openSync(join(directory, 'log'), 'a');
    child = spawn('dockerd', args, { stdio: ['ignore', log, log] });
    const answers = async () => (await call('GET', '/_ping').catch(() => undefined))?.status === 200;
    await vi.waitUntil(answers, PATIENCE).catch((cause: unknown) => {
      throw new Error(`the daemon did not answer: ${readFileSync(join(directory, 'log'), 'utf8').slice(-2000)}`, {
        cause,
      });
    });
  }

  async function end(): Promise<void> {
    const exited = new Promise((resolve) => child.once('exit', resolve));
    child.kill('SIGCONT');
    child.kill('SIGTERM');
    await exited;
  }

  await start();
  const loaded = await call('POST', '/images/load', await daemonStream(`/images/${image}/get`));
  if (loaded.status !== 200) throw new Error(`could not load the image ${image}: ${loaded.text}`);
  return {
    socketPath,
    call,
    signal: (signal) => void child.kill(signal),
    async restart() {
      await end();
      await start();
    },
    async close() {
      await end();
      for (const point of mountsBeneath(directory)) execFileSync('umount', ['--lazy', point]);
      await rm(directory, { recursive: true, force: true, maxRetries: 10 });
    },
  };
}

function mountsBeneath(directory: string): string[] {
  const points = readFileSync('/proc/self/mounts', 'utf8')
    .split('\n')
    .map((line) => line.split(' ')[1] ?? '');
  return points.filter((point) => point.startsWith(`${directory}/`)).reverse();
}
