import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { askHost } from '../../packages/host/src/control/ask-host.ts';
import { createWorkplace, isAlive, parseLines, until, type Workplace } from './workplace-rig.ts';

const PIPELINE = `version: 1
name: gate
steps:
  ask: { approval: {} }
  deploy: { command: ["true"], needs: [ask] }
`;

let place: Workplace;
let hostPid: number;

beforeEach(() => {
  place = createWorkplace();
  writeFileSync(join(place.directory, 'pipeline.yaml'), PIPELINE);
});

afterEach(async () => {
  if (isAlive(hostPid)) process.kill(hostPid, 'SIGKILL');
  await until(() => !isAlive(hostPid), 'the end of the host');
  place.remove();
});

/** A run that no process executes. */
async function suspendRun(): Promise<string> {
  const runner = place.start(['run', '--json']);
  await until(() => runner.stdout().includes('"awaitingApproval"'), 'the question');
  runner.process.kill('SIGINT');
  await runner.ended;
  return parseLines<{ runId: string }>(runner.stdout())[0]!.runId;
}

async function readHosted(): Promise<readonly string[]> {
  const reply = await askHost(place.home, { verb: 'status' });
  if (reply === undefined || 'error' in reply) throw new Error(`no host: ${JSON.stringify(reply)}`);
  return reply.status.runs.map(({ runId }) => runId);
}

/** A host of one run. */
async function startHost(): Promise<string> {
  const detached = await place.sluice('run', '--detach', '--json');
  const run = parseLines<{ runId: string; hostPid: number }>(detached.stdout).at(-1)!;
  hostPid = run.hostPid;
  await until(async () => (await place.show(run.runId)).steps[0]?.status === 'awaitingApproval', 'the question');
  return run.runId;
}

test('every command that asks a stopped host says what it waits for', async () => {
  const other = await suspendRun();
  const runId = await startHost();
  process.kill(hostPid, 'SIGSTOP');
  const commands = [['runs'], ['detach', other], ['ui', '--listen', '127.0.0.1:0']];
  const waiting = `waiting for the process that hosts the runs of ${place.home}: no reply for N s (process ${hostPid})`;
  const said = commands.map(async (args) => {
    const started = place.start(args, { isEndless: true });
    await until(() => started.stderr() !== '' || started.process.exitCode !== null, `a message of ${args.join(' ')}`);
    started.process.kill('SIGKILL');
    const { stderr } = await started.ended;
    return [args[0], stderr.split('\n')[0]?.replace(/ [5-9] s /, ' N s ')];
  });
  expect(await Promise.all(said)).toEqual(commands.map(([name]) => [name, waiting]));
  // The journal tells what the run waits for.
  const attached = place.start(['attach', runId], { isEndless: true });
  await until(() => `${attached.stdout()}${attached.stderr()}`.includes('needs approval'), 'the question');
  attached.process.kill('SIGKILL');
  await attached.ended;
});

test('a stopped host carries out no request that its client has reported as failed', async () => {
  const other = await suspendRun();
  const runId = await startHost();
  process.kill(hostPid, 'SIGSTOP');
  const [approved, left, taken, ended] = await Promise.all([
    place.sluice('approve', '-r', runId, 'ask'),
    place.sluice('detach', runId),
    place.sluice('detach', other),
    askHost(place.home, { verb: 'end' }),
  ]);
  const unknown = expect.stringMatching(/expired: it is not known whether it was carried out in time/);
  expect(approved).toMatchObject({ exitCode: 2, stdout: '', stderr: unknown });
  expect(left).toMatchObject({ exitCode: 75, stdout: '', stderr: unknown });
  expect(taken).toMatchObject({ exitCode: 75, stdout: '', stderr: unknown });
  expect(ended).toMatchObject({ error: unknown });
  // It was hosted before, and its next host resumes it.
  expect(existsSync(join(place.home, 'runs', runId, 'custody.json'))).toBe(true);

  process.kill(hostPid, 'SIGCONT');
  expect(await readHosted()).toEqual([runId]);
  expect(await place.sluice('reject', '-r', runId, 'ask')).toMatchObject({ exitCode: 0 });
  await until(async () => (await place.show(runId)).status === 'failed', 'the end of the run');
  expect((await place.show(other)).status).toBe('suspended');
  expect(await place.containers()).toEqual([]);
});
