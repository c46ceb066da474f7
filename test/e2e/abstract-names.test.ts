import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readdirSync, readlinkSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:net';
import { join } from 'node:path';

import { afterEach, beforeEach, expect, test } from 'vitest';
import { addUser, administer, configure, serve } from './served-rig.ts';
import {
  createWorkplace,
  type ListedRun,
  makeSharedDirectory,
  type Started,
  until,
  type Workplace,
} from './workplace-rig.ts';

/** Waits for a line in a pipe, then keeps the list of the unix sockets that it sees. */
const PIPELINE = `
version: 1
name: look
concurrency: { group: look, overlap: fail }
steps:
  look:
    command: [sh, -c, 'read line < "$1"; cat /proc/net/unix > /seen/unix', look, "\${{ params.gate }}"]
    outputs: { seen: /seen }
params: { gate: none }
outputs:
  seen: { from: look.seen, publish: ./results }
`;

let place: Workplace;
let shared: string;
const names: Server[] = [];

beforeEach(() => {
  place = createWorkplace();
  shared = makeSharedDirectory();
  writeFileSync(join(place.directory, 'p.yaml'), PIPELINE);
});

afterEach(async () => {
  await Promise.all(names.splice(0).map((server) => new Promise((resolve) => server.close(resolve))));
  place.remove();
  rmSync(shared, { recursive: true, force: true });
});

/** A run whose step waits until the function is called. */
function startRun(): { run: Started; goOn: () => Promise<void> } {
  const gate = join(shared, 'gate');
  spawnSync('mkfifo', [gate]);
  const run = place.start(['run', '--here', 'p.yaml', '-p', `gate=${gate}`]);
  return { run, goOn: () => writeFile(gate, 'now\n') };
}

const isActive = async () => (await place.runs())[0]?.status === 'running';

/** The inodes of the sockets that a process has. */
function socketsOf(pid: number): Set<string> {
  const directory = `/proc/${pid}/fd`;
  const inodes = readdirSync(directory).flatMap((fd) => {
    try {
      return /^socket:\[(\d+)\]$/.exec(readlinkSync(join(directory, fd)))?.[1] ?? [];
    } catch {
      return [];
    }
  });
  return new Set(inodes);
}

/** Binds every name that a version of Sluice has used for a directory, or still uses without `flock`. */
async function bindNames(directory: string): Promise<void> {
  const { dev, ino, birthtimeNs } = statSync(directory, { bigint: true });
  const identity = [dev, ino, birthtimeNs].map((part) => part.toString(36)).join('-');
  const kinds = ['', 'service-', 'store-', 'users-'].map((kind) => `sluice-${kind}${identity}`);
  const locks = ['.lock', '.store.lock', '.users.lock', '.service.yaml.lock'].map(
    (file) => `sluice-lock-${identity}-${createHash('sha256').update(file).digest('hex').slice(0, 16)}`,
  );
  for (const name of [...kinds, ...locks, `sluice-config-${identity}-service.yaml`]) {
    const server = createServer((socket) => socket.destroy());
    names.push(server);
    await new Promise<void>((resolve, reject) => {
      server.on('error', reject).listen(`\0${name}`, () => resolve());
    });
  }
}

async function bindNamesBeneath(root: string): Promise<void> {
  await bindNames(root);
  for (const entry of readdirSync(root, { withFileTypes: true, recursive: true })) {
    if (entry.isDirectory()) await bindNames(join(entry.parentPath, entry.name));
  }
}

test("a container on the host's network sees the control socket of its run, and no abstract name of Sluice", async () => {
  const { run, goOn } = startRun();
  await until(isActive, 'the run to start');
  const sockets = socketsOf(run.process.pid!);
  await goOn();
  expect(await run.ended).toMatchObject({ exitCode: 0 });
  const seen = place
    .read('results/unix')
    .split('\n')
    .map((line) => line.trim().split(/\s+/))
    .filter(([, , , , , , inode = '']) => sockets.has(inode))
    .map(([, , , , , , , name = '']) => name);
  expect(seen).toContainEqual(expect.stringContaining('/.control.sock'));
  expect(seen.filter((name) => name.startsWith('@'))).toEqual([]);
});

test('a process that binds every abstract name of a home stops no run from starting, resuming or being listed', async () => {
  const { run, goOn } = startRun();
  await until(isActive, 'the run to start');
  run.process.kill('SIGKILL');
  await run.ended;
  await bindNamesBeneath(place.home);
  const [{ runId, status }] = (await place.runs()) as [ListedRun];
  expect(status).toBe('suspended');
  const resumed = place.start(['resume', runId]);
  await until(isActive, 'the run to go on');
  await goOn();
  expect(await resumed.ended).toMatchObject({ exitCode: 0 });
  const next = startRun();
  await until(isActive, 'the next run to start');
  await next.goOn();
  expect(await next.run.ended).toMatchObject({ exitCode: 0 });
});

test('a process that binds every abstract name of a service stops neither it nor its operator', async () => {
  configure(place);
  await addUser(place, 'main/physics');
  await bindNamesBeneath(place.directory);
  const server = await serve(place);
  expect(await administer(place, 'add', 'b@example.org')).toMatchObject({ exitCode: 0 });
  await server.kill();
});
