import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createWorkplace, type Ended, type Started, until, type Workplace } from './workplace-rig.ts';

/** Another boot of another host, on which the file of the socket, the last argument, connects to no process. */
const OTHER_MACHINE = `hostname other
mount --bind "$1" /proc/sys/kernel/random/boot_id
[ ! -e "$2" ] || mount --bind /dev/null "$2"
shift 2
exec "$@"`;
const canBeOther =
  process.getuid?.() === 0 &&
  spawnSync('unshare', ['--mount', '--uts', 'mount', '--bind', '/dev/null', '/proc/sys/kernel/random/boot_id'])
    .status === 0;
/** The machine of the run is a node of a job, whose files others see. */
const IN_JOB = { env: { SLURM_JOB_ID: '7' } };
const PIPELINE = `version: 1
name: far
steps:
  ask: { approval: Go on? }
  slow: { needs: [ask], command: [sleep, "600"] }
`;

let place: Workplace;
let driver: Started | undefined;

beforeEach(() => {
  place = createWorkplace();
  writeFileSync(join(place.directory, 'pipeline.yaml'), PIPELINE);
  writeFileSync(join(place.directory, 'boot'), '11111111-2222-3333-4444-555555555555\n');
});

afterEach(async () => {
  driver?.process.kill('SIGKILL');
  await driver?.ended;
  place.remove();
});

/** Runs a command about the run on another machine. */
function elsewhere(runId: string, ...args: string[]): Promise<Ended> {
  const socket = join(place.home, 'runs', runId, '.control.sock');
  const boot = join(place.directory, 'boot');
  const prefix = ['unshare', '--mount', '--uts', 'sh', '-c', OTHER_MACHINE, 'sh', boot, socket];
  return place.start(args, { prefix }).ended;
}

async function stateOf(runId: string, step: string): Promise<string | undefined> {
  return (await place.show(runId)).steps.find((one) => one.step === step)?.status;
}

test.skipIf(!canBeOther)('a run is approved, suspended and canceled from another machine', async () => {
  driver = place.start(['run', '--engine', 'local'], IN_JOB);
  await until(async () => (await place.runs()).length === 1, 'the run');
  const { runId } = (await place.runs())[0]!;
  await until(async () => (await stateOf(runId, 'ask')) === 'awaitingApproval', 'the question');
  expect(await elsewhere(runId, 'approve', 'ask')).toMatchObject({ exitCode: 0, stderr: '' });
  await until(async () => (await stateOf(runId, 'slow')) === 'running', 'the step');
  expect(await elsewhere(runId, 'approve', 'ask')).toMatchObject({ exitCode: 2 });

  const suspended = await elsewhere(runId, 'suspend');
  expect(suspended).toMatchObject({ exitCode: 0, stdout: expect.stringContaining(`run ${runId} is suspended`) });
  expect((await driver.ended).exitCode).toBe(75);
  expect(await elsewhere(runId, 'suspend')).toMatchObject({
    stderr: expect.stringContaining('no process executes it'),
  });

  driver = place.start(['resume', runId, '--engine', 'local'], IN_JOB);
  await until(async () => (await place.runs())[0]?.status === 'running', 'the resumed run');
  const canceled = await elsewhere(runId, 'cancel');
  expect(canceled).toMatchObject({ exitCode: 0, stderr: '', stdout: `canceling run ${runId}\n` });
  await driver.ended;
  expect((await place.runs())[0]?.status).toBe('canceled');
});

test.skipIf(!canBeOther)('a run whose process on another machine was killed is canceled here', async () => {
  driver = place.start(['run', '--engine', 'local'], IN_JOB);
  await until(async () => (await place.runs()).length === 1, 'the run');
  const { runId } = (await place.runs())[0]!;
  await until(async () => (await stateOf(runId, 'ask')) === 'awaitingApproval', 'the question');
  driver.process.kill('SIGKILL');
  await driver.ended;
  expect(await elsewhere(runId, 'cancel')).toMatchObject({ exitCode: 0, stderr: '' });
  expect((await place.runs())[0]?.status).toBe('canceled');
});
