import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, statfsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { RunnerEvent } from '@sluice/run';
import { afterEach, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { mountSmallDisk, type SmallDisk } from '../../packages/service/test/store/small-disk.ts';
import { CREDENTIALS, type Server, serveNew } from './served-rig.ts';
import { createWorkplace, type Ended, parseLines, type Started, until, type Workplace } from './workplace-rig.ts';

/** A small file system for a home; it takes root with its capabilities to mount one. */
const canMount = process.getuid?.() === 0 && spawnSync('unshare', ['--mount', 'true']).status === 0;
const MIB = 1024 * 1024;
const REASON = 'the disk of the service is full (exit code 1)';

describe.skipIf(!canMount && process.env.CI !== 'true')('a home whose disk is full', () => {
  let place: Workplace;
  let disk: SmallDisk | undefined;
  let cwd: string;

  beforeEach(() => {
    place = createWorkplace();
    const mounted = join(place.directory, 'small');
    mkdirSync(mounted);
    disk = mountSmallDisk('24m', mounted);
    expect(disk).toBeDefined();
    cwd = join(mounted, 'project');
    mkdirSync(cwd);
  });
  afterEach(() => {
    disk?.unmount();
    place.remove();
  });

  const home = () => join(cwd, '.sluice');
  const sluice = (...args: string[]): Promise<Ended> => place.start(['--home', home(), ...args], { cwd }).ended;
  const free = () => {
    const { bavail, bsize } = statfsSync(cwd);
    return bavail * bsize;
  };

  function write(steps: Readonly<Record<string, object>>): void {
    writeFileSync(join(cwd, 'p.json'), JSON.stringify({ version: 1, name: 'p', steps }));
  }

  /** Starts a run of one long step, leaves it, and lets something else fill the disk. */
  async function leaveRun(): Promise<string> {
    write({ long: { script: 'echo begun; sleep 600' } });
    const run = place.start(['--home', home(), 'run', 'p.json', '--json'], { cwd });
    await until(() => isRunning(run), 'the step to run');
    await until(() => existsSync(join(home(), 'reserve')), 'the reserve');
    run.process.kill('SIGTERM');
    const { stdout } = await run.ended;
    disk?.fill();
    expect(free()).toBe(0);
    return parseLines<RunnerEvent>(stdout)[0]!.runId;
  }

  const isRunning = (run: Started) => run.stdout().includes('"status":"running"');

  test('fails the step that has filled it, says why, and removes its partial output', async () => {
    write({
      fill: { script: 'echo begun; cat /dev/zero > /out/big/file', outputs: ['big'] },
      after: { command: ['true'], needs: ['fill'] },
    });
    const run = await sluice('run', 'p.json');
    expect(run).toMatchObject({ exitCode: 1 });
    expect(run.stdout).toMatch(/│ .*No space left on device/i);
    expect(run.stdout).toContain('hint: a disk that it wrote to is full: free space there');
    expect(run.stdout).toMatch(/warning: removed the partial output of fill: its \d{8} bytes were on the disk of/);
    expect(run.stdout).toContain(REASON);
    expect((await sluice('show')).stdout).toContain(REASON);
    expect((await sluice('why', 'fill')).stdout).toContain(REASON);
    const { failures } = JSON.parse((await sluice('show', '--json')).stdout);
    expect(failures).toMatchObject([{ step: 'fill', reason: 'failed', exitCode: 1, message: REASON }]);
    await sluice('report', '--junit', join(place.directory, 'junit.xml'));
    expect(readFileSync(join(place.directory, 'junit.xml'), 'utf8')).toContain(REASON);
    expect(free()).toBeGreaterThan(20 * MIB);
    expect((await sluice('logs', 'fill')).stdout).toContain('begun\n');
    // There is room for the next run, and for a reserve.
    write({ small: { command: ['true'] } });
    expect(await sluice('run', 'p.json')).toMatchObject({ exitCode: 0 });
    expect(existsSync(join(home(), 'reserve'))).toBe(true);
  });

  test('removes the partial output of a step that has filled it and hides the message', async () => {
    write({ fill: { script: 'cat /dev/zero > /out/big/file 2>/dev/null', outputs: ['big'] } });
    const run = await sluice('run', 'p.json');
    expect(run.stdout).toMatch(/warning: removed the partial output of fill: its \d{8} bytes were on the disk of/);
    expect(run.stdout).toContain(REASON);
    expect(free()).toBeGreaterThan(18 * MIB);
  });

  test('reports a failed step without outputs', async () => {
    write({ small: { script: 'sleep 3; echo No space left on device; exit 3' } });
    const run = place.start(['--home', home(), 'run', 'p.json', '--json'], { cwd });
    await until(() => isRunning(run), 'the step to run');
    await until(() => existsSync(join(home(), 'reserve')), 'the reserve');
    // The runner looks at the disk each second; on one that is entirely full, a write before that look suspends the run.
    disk?.fill(128 * 1024);
    expect(await run.ended).toMatchObject({ exitCode: 1, stderr: '' });
  });

  test('shows logs, cancels a run, and removes runs', async () => {
    const runId = await leaveRun();
    expect((await sluice('logs', 'long')).stdout).toBe('begun\n');
    expect(await sluice('cancel', runId)).toMatchObject({ exitCode: 0 });
    expect((await sluice('show', runId)).stdout).toContain('p canceled');
    const collected = await sluice('gc', '--older-than', '0s');
    expect(collected.exitCode).toBe(0);
    expect(collected.stdout).toContain(runId);
  });

  test('cancels a run whose step ignores that the disk is full, and removes what the step has written', async () => {
    const script = 'while :; do cat /dev/zero >> /out/big/file || true; done 2>/dev/null';
    write({ fill: { script, outputs: ['big'] } });
    const run = place.start(['--home', home(), 'run', 'p.json', '--json'], { cwd });
    await until(() => isRunning(run), 'the step to run');
    await until(() => free() === 0 && !existsSync(join(home(), 'reserve')), 'the reserve to be used up');
    const { runId } = parseLines<RunnerEvent>(run.stdout())[0]!;
    expect(await sluice('cancel', runId)).toMatchObject({ exitCode: 0 });
    expect((await run.ended).stdout).toContain('removed the partial output of fill: its ');
    expect((await sluice('show', runId)).stdout).toContain('p canceled');
    expect(free()).toBeGreaterThan(18 * MIB);
  });

  test('resumes a run, which ends once its container does', async () => {
    const runId = await leaveRun();
    const resumed = place.start(['--home', home(), 'resume', runId, '--json'], { cwd });
    await until(() => isRunning(resumed), 'the run to go on');
    expect(await sluice('cancel', runId)).toMatchObject({ exitCode: 0 });
    await resumed.ended;
    expect((await sluice('show', runId)).stdout).toContain('p canceled');
  });
});

test('a store that cannot be written: the run is suspended with the reason, and resumed by another process', async () => {
  const place = createWorkplace();
  onTestFinished(() => place.remove());
  writeFileSync(
    join(place.directory, 'p.json'),
    JSON.stringify({
      version: 1,
      name: 'p',
      steps: { short: { script: 'sleep 1' }, long: { script: 'sleep 3; exit 3' } },
    }),
  );
  const run = place.start(['run', 'p.json', '--json']);
  // A container that starts later would have the limit, too, and fail by it.
  await until(() => run.stdout().split('"status":"running"').length > 2, 'both steps to run');
  // The journal is shorter than that, and the store longer: the write fails as on a disk that is full at that moment. Where
  // LMDB fails to write one page alone, its error message damages memory, and the process may be killed by it; this limit is
  // in the middle of such a page, which is written in part.
  execFileSync('prlimit', ['--pid', `${run.process.pid}`, '--fsize=10240:10240']);
  const { exitCode, stdout } = await run.ended;
  expect(exitCode).toBe(75);
  expect(parseLines<RunnerEvent>(stdout).at(-1)).toMatchObject({
    type: 'runSuspended',
    message: expect.stringMatching(
      /^could not write to the store of the embedded service in \S+: (i\/o error|file too large); the/,
    ),
  });
  const resumed = await place.start(['resume']).ended;
  expect(resumed).toMatchObject({ exitCode: 1, stdout: expect.stringContaining('p failed') });
  const { steps } = JSON.parse((await place.start(['show', '--json']).ended).stdout);
  expect(steps).toMatchObject([{ cells: [{ attempt: 1 }] }, { cells: [{ attempt: 1, message: 'exit code 3' }] }]);
});

describe.skipIf(!canMount && process.env.CI !== 'true')('a home whose disk has no inodes left', () => {
  let place: Workplace;
  let disk: SmallDisk | undefined;
  let server: Server | undefined;
  let cwd: string;
  let service: Readonly<Record<string, string>> = {};

  beforeEach(() => {
    place = createWorkplace();
    const mounted = join(place.directory, 'small');
    mkdirSync(mounted);
    disk = mountSmallDisk('64m,nr_inodes=4000', mounted);
    expect(disk).toBeDefined();
    cwd = join(mounted, 'project');
    mkdirSync(cwd);
  });
  afterEach(async () => {
    await server?.kill();
    server = undefined;
    service = {};
    disk?.unmount();
    place.remove();
  });

  const home = () => join(cwd, '.sluice');
  const reserve = () => join(home(), 'reserve-inodes');
  const start = (...args: string[]) => place.start(['--home', home(), ...args], { cwd, env: service });
  const sluice = (...args: string[]): Promise<Ended> => start(...args).ended;
  const free = () => statfsSync(cwd).ffree;
  const isRunning = (run: Started) => run.stdout().includes('"status":"running"');

  function write(steps: Readonly<Record<string, object>>): void {
    writeFileSync(join(cwd, 'p.json'), JSON.stringify({ version: 1, name: 'p', steps }));
  }

  /** Starts a run of one long step, leaves it, and lets something else use up the inodes. */
  async function leaveRun(): Promise<string> {
    write({ long: { script: 'echo begun; sleep 600' } });
    const run = start('run', 'p.json', '--json');
    await until(() => isRunning(run), 'the step to run');
    await until(() => existsSync(reserve()) && readdirSync(reserve()).length === 64, 'the reserve');
    run.process.kill('SIGTERM');
    const { stdout } = await run.ended;
    disk?.fillInodes();
    expect(free()).toBe(0);
    return parseLines<RunnerEvent>(stdout)[0]!.runId;
  }

  test('fails the step that has used them up, says why, and removes its partial output', async () => {
    write({
      fill: {
        script: 'echo begun; i=0; while command : >/out/many/$i; do i=$((i+1)); done; exit 1',
        outputs: ['many'],
      },
      after: { command: ['true'], needs: ['fill'] },
    });
    const run = await sluice('run', 'p.json');
    expect(run).toMatchObject({ exitCode: 1 });
    expect(run.stdout).toMatch(/warning: removed the partial output of fill: its \d{4} files and directories were on/);
    expect(run.stdout).toContain(REASON);
    expect((await sluice('show')).stdout).toContain(REASON);
    expect((await sluice('logs', 'fill')).stdout).toContain('begun\n');
    expect(free()).toBeGreaterThan(3000);
    // There is room for the next run, and for a reserve.
    write({ small: { command: ['true'] } });
    expect(await sluice('run', 'p.json')).toMatchObject({ exitCode: 0 });
    expect(readdirSync(reserve())).toHaveLength(64);
  });

  test('shows logs, cancels a run, and removes runs', async () => {
    const runId = await leaveRun();
    expect((await sluice('logs', 'long')).stdout).toBe('begun\n');
    expect(await sluice('cancel', runId)).toMatchObject({ exitCode: 0 });
    expect((await sluice('show', runId)).stdout).toContain('p canceled');
    const collected = await sluice('gc', '--older-than', '0s');
    expect(collected).toMatchObject({ exitCode: 0, stdout: expect.stringContaining(runId) });
  });

  test('cancels a run whose step goes on all the same, and removes what the step has made', async () => {
    const script = 'i=0; while :; do command : >/out/many/$i || true; i=$((i+1)); done 2>/dev/null';
    write({ fill: { script, outputs: ['many'] } });
    const run = start('run', 'p.json', '--json');
    await until(() => isRunning(run), 'the step to run');
    await until(() => free() === 0 && !existsSync(reserve()), 'the reserve to be used up');
    const { runId } = parseLines<RunnerEvent>(run.stdout())[0]!;
    expect(await sluice('cancel', runId)).toMatchObject({ exitCode: 0 });
    expect((await run.ended).stdout).toContain('removed the partial output of fill: its ');
    expect((await sluice('show', runId)).stdout).toContain('p canceled');
    expect(free()).toBeGreaterThan(3000);
  });

  test('resumes a run, which ends once its container does', async () => {
    const runId = await leaveRun();
    const resumed = start('resume', runId, '--json');
    await until(() => isRunning(resumed), 'the run to go on');
    expect(await sluice('cancel', runId)).toMatchObject({ exitCode: 0 });
    await resumed.ended;
    expect((await sluice('show', runId)).stdout).toContain('p canceled');
  });

  test('cancels a run on a service, too, and removes runs', async () => {
    server = await serveNew(place);
    service = { ...CREDENTIALS, SLUICE_SERVICE: server.url };
    const runId = await leaveRun();
    expect(await sluice('cancel', runId)).toMatchObject({ exitCode: 0 });
    expect((await sluice('show', runId)).stdout).toContain('p canceled');
    const collected = await sluice('gc', '--older-than', '0s');
    expect(collected).toMatchObject({ exitCode: 0, stdout: expect.stringContaining(runId) });
  });
});
