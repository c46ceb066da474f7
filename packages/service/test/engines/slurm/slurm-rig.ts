import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { vi } from 'vitest';
import type { SlurmJobConfig } from '../../../src/engines/slurm/slurm-job-config.ts';
import { EngineRig } from '../engine-rig.ts';
import type { CreateEngine, EngineUnderTest } from '../engine-under-test.ts';
import create from './create-engine.ts';

/** Whether `.ci/start-slurm.sh` has started a cluster; in CI its absence is a failure, elsewhere a visible skip. */
export const hasSlurm = process.env.SLUICE_TEST_SLURM === '1';

/** A rig on the three-node test cluster; `options` are the instance type's. */
export function slurmRig(options: Readonly<Record<string, unknown>> = {}, make: CreateEngine = create): EngineRig {
  return new EngineRig(make, slurmSubject(options));
}

/** What the contract knows of this engine. */
export function slurmSubject(options: Readonly<Record<string, unknown>>): EngineUnderTest {
  return {
    options,
    module: '',
    ordersStreams: true,
    pipesLog: false,
    keepsBytes: true,
    memoryLimit: 'none',
    coreLimit: false,
    mounts: 1100,
    hostRoot: true,
    hidesInit: false,
    rejectsMissingCommand: false,
    startsTasks: true,
    holdsSwappedLinks: true,
  };
}

type Program = 'scontrol' | 'squeue' | 'sbatch' | 'scancel' | 'sinfo';

export function slurm(program: Program, ...args: string[]): string {
  return callSlurm(program, { args });
}

function callSlurm(program: Program, { args, input = '' }: { args: string[]; input?: string }): string {
  return execFileSync(program, args, { input, encoding: 'utf8' });
}

/** A job without a script that has all cores of some nodes, until `endJob`. */
export function reserveNodes(count: number): SlurmJobConfig {
  const args = ['--no-shell', `--nodes=${count}`, '--ntasks-per-node=4', '--job-name=sluice-test'];
  const id = /Granted job allocation (\d+)/.exec(
    execFileSync('sh', ['-c', `salloc ${args.join(' ')} 2>&1`], { encoding: 'utf8' }),
  )![1]!;
  const list = slurm('squeue', '--noheader', `--jobs=${id}`, '--format=%N').trim();
  const names = slurm('scontrol', 'show', 'hostnames', list).trim().split('\n');
  return { id, runtime: 'none', nodes: names.map((name) => ({ name, cores: 4, memoryMB: 4000, gpus: 0 })) };
}

export async function endJob(jobId: string): Promise<void> {
  slurm('scancel', jobId);
  await until(`job ${jobId} has ended`, () =>
    slurm('squeue', '--noheader', '--me')
      .split('\n')
      .every((line) => !line.trim().startsWith(`${jobId} `)),
  );
}

/** Submits the job of a container once more; the ID of the second one. */
export function submitTwin({ directory }: { readonly directory: string }): string {
  const input = slurm('scontrol', 'write', 'batch_script', readFileSync(join(directory, 'slurm-job'), 'utf8'), '-');
  const args = ['--parsable', `--chdir=${directory}`, '--job-name=twin', '--output=/dev/null'];
  return callSlurm('sbatch', { args, input }).trim();
}

/** Slurm's own word for one job, which no other job can forge; undefined of one that it has forgotten. */
export function stateOfJob(jobId: string): string | undefined {
  const { stdout } = spawnSync('scontrol', ['--oneliner', 'show', 'job', jobId], { encoding: 'utf8' });
  return / JobState=(\w+) /.exec(stdout.replace(/ JobName=.*? UserId=/s, ' UserId='))?.[1];
}

/** A user of the cluster who has nothing to do with the service; `.ci/start-slurm.sh` makes the account. */
export const otherUser = process.env.SLUICE_TEST_SLURM_OTHER ?? 'sluice-other';

/** Runs a program as another user of this machine, with what that user sees of Slurm. Throws as `execFileSync` does. */
export function runAs(user: string, program: string, ...args: string[]): string {
  const { PATH = '', SLURM_CONF = '' } = process.env;
  const words = [`--reuid=${user}`, `--regid=${user}`, '--init-groups', 'env', '-i', `PATH=${PATH}`];
  return execFileSync('setpriv', [...words, `SLURM_CONF=${SLURM_CONF}`, program, ...args], {
    cwd: '/',
    encoding: 'utf8',
    stdio: 'pipe',
  });
}

/**
 * Engines that `work` makes find `program` in front of Slurm's own, which it becomes after the shell commands `before`.
 * `work` is given its path.
 */
export async function withProgram(
  program: string,
  before: string,
  work: (path: string) => Promise<void>,
): Promise<void> {
  const { PATH = '' } = process.env;
  const directory = mkdtempSync(join(tmpdir(), 'sluice-program-'));
  const path = join(directory, program);
  writeFileSync(path, `#!/bin/sh\n${before}\nPATH='${PATH}' exec ${program} "$@"\n`, { mode: 0o755 });
  process.env.PATH = `${directory}:${PATH}`;
  try {
    await work(path);
  } finally {
    process.env.PATH = PATH;
    rmSync(directory, { recursive: true });
  }
}

/** Waits, at most 150 s, until `condition` holds of the real cluster, which takes its time to miss a node. */
export async function until(what: string, condition: () => boolean | Promise<boolean>): Promise<void> {
  for (let i = 0; i < 750; i++) {
    if (await condition()) return;
    await pause(200);
  }
  throw new Error(`could not see that ${what} within 150 s`);
}

/** Waits for a file, and looks every millisecond: the moment that it announces may be over after a few. */
export async function untilWritten(path: string): Promise<void> {
  await vi.waitUntil(() => existsSync(path), { timeout: 150_000, interval: 1 });
}

/** Lets time pass, so that something is in progress when the test goes on. */
export async function waitFor(ms: number): Promise<void> {
  await pause(ms);
}

/** Ends a node's daemon as a crash does, with the steps of all nodes of the cluster. */
export function crashNode(node: string): void {
  process.kill(daemonOf(`slurmd-${node}`), 'SIGKILL');
  for (const pid of pidsOf('slurmstepd')) {
    if (isOfCluster(pid)) process.kill(pid, 'SIGKILL');
  }
}

/** Processes whose command line matches. */
export function pidsOf(pattern: string): number[] {
  const { stdout } = spawnSync('pgrep', ['-f', pattern], { encoding: 'utf8' });
  return stdout.split('\n').filter(Boolean).map(Number);
}

/** Ends a node's daemon, without the steps that it runs, and starts it again. */
export function restartNode(node: string): void {
  process.kill(daemonOf(`slurmd-${node}`), 'SIGKILL');
  startNode(node);
}

export function startNode(node: string): void {
  execFileSync(`${process.env.SLUICE_TEST_SLURM_STATE}/start-node`, [node]);
}

/**
 * Waits until the controller's saved state, which lags by seconds, holds what is true of a job now. One that is killed
 * before forgets the job or its start, gives its number away or starts it again, and then drains the node for that
 * (`Duplicate jobid`).
 */
export async function savedByController(jobId: string): Promise<void> {
  const mark = `saved-${jobId}-${Date.now()}`;
  const path = `${process.env.SLUICE_TEST_SLURM_STATE}/ctld/job_state`;
  slurm('scontrol', 'update', `JobId=${jobId}`, `Comment=${mark}`);
  await until(`the controller has saved job ${jobId}`, () => existsSync(path) && readFileSync(path).includes(mark));
}

/** Ends the controller and starts it again from its saved state. */
export function restartController(): Promise<void> {
  return duringControllerOutage(async () => {});
}

/** The same, with `work` done between; waits until the new one answers. */
export async function duringControllerOutage(work: () => Promise<void>): Promise<void> {
  process.kill(daemonOf('slurmctld'), 'SIGKILL');
  try {
    await work();
  } finally {
    execFileSync('slurmctld', [], { stdio: 'ignore' });
  }
  await until('the controller answers', controllerAnswers);
}

function controllerAnswers(): boolean {
  try {
    return slurm('sinfo', '--noheader') !== '';
  } catch {
    return false;
  }
}

function daemonOf(name: string): number {
  return Number(readFileSync(`${process.env.SLUICE_TEST_SLURM_STATE}/run/${name}.pid`, 'utf8'));
}

/** Whether a process is a `slurmstepd` of this cluster: another one may run on the same machine. */
function isOfCluster(pid: number): boolean {
  try {
    const hasName = readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('slurmstepd');
    return hasName && readFileSync(`/proc/${pid}/environ`, 'utf8').includes(`${process.env.SLUICE_TEST_SLURM_STATE}/`);
  } catch {
    return false;
  }
}
