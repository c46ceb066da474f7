import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { driverArguments, driverScript } from '../../../src/engines/slurm/driver-job.ts';

const job = { name: 'sluice a/b\n', command: ['true'], directory: '/shared', logPath: '/shared/job.log', env: {} };
let directory: string;

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'sluice-driver-'));
  writeFileSync(join(directory, 'scontrol'), '#!/bin/sh\necho "$@" >"$0.calls"\n', { mode: 0o755 });
});

afterEach(() => rmSync(directory, { recursive: true, force: true }));

it('driverArguments passes the options that concern a job without containers', () => {
  const options = { partition: 'main', account: 'physics', qos: 'low', mail: 'ada@example.org', gres: 'gpu:2' };
  const args = driverArguments({ ...job, options });
  for (const one of ['--partition=main', '--account=physics', '--qos=low', '--mail-user=ada@example.org', '--requeue'])
    expect(args).toContain(one);
  expect(args.join(' ')).not.toMatch(/gres|--time/);
  expect(args).toContain('--job-name=sluice a/b_');
});

it.each([
  ['24h', '--time=1440'],
  ['1m', '--time=10'],
])('driverArguments with the time limit %s has %s, more than the notice before the end', (timeLimit, expected) => {
  expect(driverArguments({ ...job, options: { timeLimit } })).toContain(expected);
});

it('driverScript sets variables of sbatch that the engine uses, which are not those of the job itself', () => {
  const env = { SBATCH_GRES: "gpu:1,o'clock", SBATCH_WAIT: '1', OTHER: 'x' };
  const script = driverScript({ command: ['sh', '-c', 'env | grep -E "SBATCH|OTHER"'], env });
  expect(spawnSync('sh', ['-s'], { input: script, env: {}, encoding: 'utf8' }).stdout).toBe(
    "SBATCH_GRES=gpu:1,o'clock\n",
  );
});

/** A command that runs until SIGTERM, signals the script itself, and ends with `code`. */
const interrupted = (signal: string, code: number) =>
  ['sh', '-c', `trap 'exit ${code}' TERM; kill -${signal} $PPID; while :; do sleep 0.01; done`] as const;

it.each([
  ['passes on the exit code', ['sh', '-c', 'exit 3'], 3, undefined],
  ['queues itself again after the notice', interrupted('URG', 75), 0, 'requeue 12\n'],
  ['does not if the run has ended meanwhile', interrupted('URG', 0), 0, undefined],
  ['does not if it is canceled', interrupted('TERM', 75), 75, undefined],
])('driverScript %s', (_what, command, status, requeued) => {
  const env = { PATH: `${directory}:${process.env.PATH}`, SLURM_JOB_ID: '12' };
  const ended = spawnSync('sh', ['-s'], { input: driverScript({ command, env: {} }), env });
  expect(ended.status).toBe(status);
  const read = () => readFileSync(join(directory, 'scontrol.calls'), 'utf8');
  if (requeued === undefined) expect(read).toThrow('ENOENT');
  else expect(read()).toBe(requeued);
});
