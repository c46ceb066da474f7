import { spawnSync } from 'node:child_process';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { mountSmallDisk, type SmallDisk } from '../../packages/service/test/store/small-disk.ts';
import { addUser, CREDENTIALS, configure, type Server, serve } from './served-rig.ts';
import { createWorkplace, makeSharedDirectory, parseLines, until, type Workplace } from './workplace-rig.ts';

/** A small file system for the service; it takes root with its capabilities to mount one. */
const canMount = process.getuid?.() === 0 && spawnSync('unshare', ['--mount', 'true']).status === 0;

describe.skipIf(!canMount && process.env.CI !== 'true')('a service whose disk is full', () => {
  let place: Workplace;
  let disk: SmallDisk | undefined;
  let shared: string;
  let server: Server | undefined;

  beforeEach(async () => {
    place = createWorkplace();
    const data = join(place.directory, 'data');
    mkdirSync(data);
    disk = mountSmallDisk('24m', data);
    expect(disk).toBeDefined();
    configure(place);
    await addUser(place, 'main/physics');
    shared = makeSharedDirectory();
    const wait = `until [ -e '${shared}/gate' ]; do sleep 0.1; done`;
    const steps = { first: { script: wait }, second: { script: 'echo done', needs: ['first'] } };
    writeFileSync(join(place.directory, 'p.json'), JSON.stringify({ version: 1, name: 'p', steps }));
  });
  afterEach(async () => {
    await server?.kill();
    server = undefined;
    disk?.unmount();
    place.remove();
    rmSync(shared, { recursive: true });
  });

  const ask = async (path: string) => {
    const reply = await fetch(`${server!.url}${path}`);
    return { status: reply.status, body: await reply.json() };
  };

  test('rejects a new run within seconds, says that it is not ready, and is again once there is room', async () => {
    server = await serve(place);
    expect(await ask('/readyz')).toMatchObject({ status: 200, body: { ready: true, store: 'ready' } });
    disk?.fill();
    expect(await ask('/readyz')).toMatchObject({ status: 503, body: { ready: false, store: 'its disk is full' } });
    // An orchestrator that restarts what is not healthy would gain nothing.
    expect(await ask('/healthz')).toMatchObject({ status: 200 });
    const started = place.start(['run', '--here', 'p.json', '--service', server.url], { env: CREDENTIALS });
    const rejected = await started.ended;
    expect(rejected.exitCode).toBe(3);
    expect(rejected.stderr).toContain('507 could not write to the store because its disk is full');
    disk?.empty();
    await until(async () => (await ask('/readyz')).status === 200, 'the service to be ready again');
    server.process.kill('SIGTERM');
    const { stderr } = await server.ended;
    for (const line of parseLines<object>(stderr)) expect(line).toHaveProperty('level');
  });

  test('holds up a run that is under way with a warning and a reason, and the run goes on by itself', async () => {
    server = await serve(place);
    const run = place.start(['run', '--here', 'p.json', '--service', server.url], { env: CREDENTIALS });
    let warnings = '';
    run.process.stderr!.on('data', (text) => {
      warnings += text;
    });
    const metrics = async () => (await fetch(`${server!.url}/metrics`)).text();
    const isRunning = async () => /sluice_containers\{.*phase="Running"\} 1/.test(await metrics());
    await until(isRunning, 'the first step to run');
    // Room enough to record that a container has ended, too little for a new one.
    disk?.fill(700_000);
    writeFileSync(join(shared, 'gate'), '');
    await until(() => `${run.stdout()}${warnings}`.includes('its disk is full'), 'a warning');
    const { stdout } = await place.sluice('why', 'second');
    expect(stdout).toContain('the disk of the service is full; tried again at');
    expect(stdout).toContain('the operator of the service must free disk space');
    disk?.empty();
    expect(await run.ended).toMatchObject({ exitCode: 0 });
    expect(run.stdout()).toContain('2 succeeded');
    server.process.kill('SIGTERM');
    const { stderr } = await server.ended;
    for (const line of parseLines<object>(stderr)) expect(line).toHaveProperty('level');
  });
});
