import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createWorkplace, isAlive, parseLines, until, type Workplace } from './workplace-rig.ts';

const PIPELINE = `
version: 1
name: two
steps:
  first: { command: [sh, -c, "echo first > /out/log; exec sleep \${{ params.seconds }}"], outputs: { out: /out } }
  second: { command: [sh, -c, "cat /in/out/log; echo second"], inputs: { out: first.out } }
params: { seconds: 1 }
outputs: { out: { from: first.out, publish: results } }
`;

let place: Workplace;
const hosts = new Set<number>();

beforeEach(() => {
  place = createWorkplace();
  writeFileSync(join(place.directory, 'pipeline.yaml'), PIPELINE);
});

afterEach(() => {
  for (const pid of hosts) if (isAlive(pid)) process.kill(pid, 'SIGKILL');
  hosts.clear();
  place.remove();
});

interface Detached {
  readonly type: 'detached';
  readonly runId: string;
  readonly hostPid: number;
}

async function detach(...args: string[]): Promise<Detached> {
  const { exitCode, stdout, stderr } = await place.sluice(...args, '--json');
  expect(stderr).toBe('');
  expect(exitCode).toBe(0);
  const detached = parseLines<Detached>(stdout).at(-1)!;
  expect(detached).toMatchObject({ schema: 1, type: 'detached' });
  hosts.add(detached.hostPid);
  return detached;
}

const runDetached = (seconds: number) => detach('run', '--detach', '-p', `seconds=${seconds}`);
const hasEnded = async () => (await place.runs()).every(({ status }) => status === 'succeeded');
const readLog = () => readFileSync(join(place.home, 'host/host.log'), 'utf8');

test('steps start after the command has ended, and the background process ends after its last run', async () => {
  const { runId, hostPid } = await runDetached(1);
  expect((await place.runs()).map((run) => run.runId)).toEqual([runId]);
  await until(hasEnded, 'the end of the run');
  await until(() => !isAlive(hostPid), 'the end of the host');
  expect(await place.containers()).toHaveLength(2);
  expect(place.read('results/log')).toBe('first\n');
  expect(existsSync(join(place.home, 'runs', runId, 'custody.json'))).toBe(false);
});

test('wait and --quiet print nothing of a run that succeeds, and the report of one that does not', async () => {
  const fails = PIPELINE.replace('echo second', 'exit 9').replace('name: two', 'name: fails');
  writeFileSync(join(place.directory, 'fails.yaml'), fails);
  const { runId } = await runDetached(1);
  expect(await place.sluice('wait', runId)).toEqual({ exitCode: 0, stdout: '', stderr: '' });
  const { stdout } = await place.sluice('wait', runId, '--json');
  expect(JSON.parse(stdout)).toMatchObject({ type: 'runReport', runId, status: 'succeeded' });
  expect(await place.sluice('run', '--quiet')).toEqual({ exitCode: 0, stdout: '', stderr: '' });
  const failed = await detach('run', 'fails.yaml', '--detach');
  const report = expect.stringMatching(/second.*\n(.*\n)*.*fails failed/);
  expect(await place.sluice('wait', failed.runId)).toMatchObject({ exitCode: 1, stdout: report });
  expect(await place.sluice('run', 'fails.yaml', '--quiet')).toMatchObject({ exitCode: 1, stdout: report });
  expect(await place.sluice('run', '--quiet', '--json')).toMatchObject({ exitCode: 2 });
});

test('concurrent commands start one background process, which ignores the hangup of their terminal', async () => {
  const detached = await Promise.all([runDetached(2), runDetached(2), runDetached(2)]);
  const pids = new Set(detached.map(({ hostPid }) => hostPid));
  expect(pids.size).toBe(1);
  for (const pid of pids) process.kill(pid, 'SIGHUP');
  await until(hasEnded, 'the end of the runs');
  expect(readLog().match(/hosts the runs of/g)).toHaveLength(1);
  expect(await place.containers()).toHaveLength(6);
});

test('a run of a terminal is handed over and taken back', async () => {
  const terminal = place.start(['run', '-p', 'seconds=3600']);
  await until(async () => (await place.runs()).some(({ status }) => status === 'running'), 'the run');
  await until(async () => (await containersOf()).length === 1, 'its container');
  const { runId, hostPid } = await detach('detach');
  expect((await terminal.ended).exitCode).toBe(75);
  await until(async () => (await executorOf(runId)) === hostPid, 'the background process to execute it');
  const again = place.start(['resume', runId]);
  await until(async () => (await executorOf(runId)) === again.process.pid, 'the run to be taken back');
  await until(() => !isAlive(hostPid), 'the end of the host');
  expect((await place.sluice('cancel', runId)).exitCode).toBe(0);
  await again.ended;
  expect(await place.containers()).toHaveLength(1);
});

test('suspend has no process execute a run, of a terminal or of the background, until another command continues it', async () => {
  const terminal = place.start(['run', '-p', 'seconds=3600']);
  await until(async () => (await place.runs()).some(({ status }) => status === 'running'), 'the run');
  await until(async () => (await containersOf()).length === 1, 'its container');
  const suspended = await place.sluice('suspend');
  expect(suspended).toMatchObject({ stderr: '', stdout: expect.stringContaining('its containers keep running') });
  const { exitCode, stdout } = await terminal.ended;
  const [{ runId } = { runId: '' }] = await place.runs();
  expect({ exitCode, stdout }).toMatchObject({
    exitCode: 75,
    stdout: expect.stringContaining(`sluice resume ${runId}, or in the background with: sluice detach ${runId}`),
  });
  expect(await place.sluice('suspend', runId)).toMatchObject({
    exitCode: 2,
    stderr: expect.stringContaining('no process executes it'),
  });
  const { hostPid } = await detach('detach', runId);
  await until(async () => (await executorOf(runId)) === hostPid, 'the background process to execute it');
  const [again] = parseLines((await place.sluice('suspend', runId, '--json')).stdout);
  expect(again).toMatchObject({ type: 'suspension', runId });
  await until(() => !isAlive(hostPid), 'the end of the host');
  expect(await place.runs()).toMatchObject([{ runId, status: 'suspended' }]);
  const canceled = await place.sluice('cancel', runId);
  expect(canceled.exitCode).toBe(0);
  expect(await place.sluice('suspend', runId)).toMatchObject({
    exitCode: 2,
    stderr: expect.stringContaining('it has ended: canceled'),
  });
  expect(await place.containers()).toHaveLength(1);
});

/** By the journal: the service may be in use. */
async function containersOf(): Promise<string[]> {
  const [run] = await place.runs();
  const journal = readFileSync(join(place.home, 'runs', run!.runId, 'journal.ndjson'), 'utf8');
  return journal.split('\n').filter((line) => line.includes('"submitted"'));
}

async function executorOf(runId: string): Promise<number> {
  const lease = JSON.parse(readFileSync(join(place.home, 'runs', runId, 'lease.json'), 'utf8')) as { pid: number };
  return lease.pid;
}

test('after a kill, the next background process resumes the runs of the first', async () => {
  const first = await runDetached(3);
  await until(async () => (await executorOf(first.runId)) === first.hostPid, 'the run to be executed');
  process.kill(first.hostPid, 'SIGKILL');
  await until(() => !isAlive(first.hostPid), 'the end of the host');
  const second = await runDetached(1);
  expect(second.hostPid).not.toBe(first.hostPid);
  await until(hasEnded, 'the end of the runs');
  await until(() => !isAlive(second.hostPid), 'the end of the host');
  expect(await place.containers()).toHaveLength(4);
});

test('a log that cannot be written is an error before anything is started', async () => {
  mkdirSync(join(place.home, 'host/host.log'), { recursive: true });
  chmodSync(place.home, 0o700);
  const { exitCode, stderr } = await place.sluice('run', '--detach');
  expect(stderr).toMatch(/could not write .*host\.log: .*; nothing was started/);
  expect(exitCode).toBe(2);
  expect(await place.runs()).toEqual([]);
});

test('a run that has ended cannot be detached', async () => {
  await place.sluice('run', '-p', 'seconds=0');
  const [run] = await place.runs();
  const { exitCode, stderr } = await place.sluice('detach', run!.runId);
  expect(stderr).toBe(`could not detach run ${run!.runId}: it has ended: succeeded\n`);
  expect(exitCode).toBe(2);
});

const eventsOf = (text: string) => parseLines(text).map((event) => event.type);

test('attach follows a run to its end, with the events and the exit code of the run', async () => {
  const { runId } = await runDetached(2);
  const { exitCode, stdout } = await place.sluice('attach', '--json');
  expect(exitCode).toBe(0);
  const events = parseLines(stdout).filter(({ type }) => type !== 'warning');
  expect(events[0]).toMatchObject({ type: 'runStarted', runId, resumed: true });
  expect(events.at(-1)).toMatchObject({ type: 'runFinished', report: { status: 'succeeded' } });
  const ended = events.flatMap((event) =>
    event.type === 'cellChanged' && event.status === 'succeeded' ? event.step : [],
  );
  expect(ended).toEqual(['first', 'second']);
  expect((await place.sluice('attach', runId)).exitCode).toBe(0);
});

test('an interrupt ends attach, not the run, and a failed run has its exit code', async () => {
  await detach('run', '--detach', '-p', 'seconds=-1');
  await until(async () => (await place.runs())[0]!.status === 'failed', 'the failure of the run');
  expect((await place.sluice('attach')).exitCode).toBe(1);
  const { runId } = await runDetached(3600);
  const attached = place.start(['attach', runId, '--json']);
  await until(() => eventsOf(attached.stdout()).includes('cellChanged'), 'an event');
  attached.process.kill('SIGINT');
  const { exitCode, stderr } = await attached.ended;
  expect(stderr).toBe(`run ${runId} continues; attach again with: sluice attach ${runId}\n`);
  expect(exitCode).toBe(130);
  const again = place.start(['attach', runId]);
  expect((await place.sluice('cancel', runId)).exitCode).toBe(0);
  expect((await again.ended).exitCode).toBe(1);
});

test('attach starts a background process for a run whose own was killed, and rejects a suspended run', async () => {
  const { runId, hostPid } = await runDetached(3);
  await until(async () => (await executorOf(runId)) === hostPid, 'the run to be executed');
  process.kill(hostPid, 'SIGKILL');
  await until(() => !isAlive(hostPid), 'the end of the host');
  expect((await place.sluice('attach', runId)).exitCode).toBe(0);
  const terminal = place.start(['run', '-p', 'seconds=3600']);
  await until(async () => (await place.runs())[0]!.runId !== runId, 'another run');
  await until(async () => (await containersOf()).length === 1, 'its container');
  terminal.process.kill('SIGTERM');
  expect((await terminal.ended).exitCode).toBe(75);
  const { exitCode, stderr } = await place.sluice('attach');
  expect(stderr).toContain('it is suspended; continue it with: sluice resume');
  expect(exitCode).toBe(75);
});
