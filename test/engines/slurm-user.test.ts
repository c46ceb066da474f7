import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer, type Server } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import type { RunReportValue } from '@sluice/run';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { makeCharliecloudImage } from '../../packages/service/test/engines/slurm/charliecloud-image.ts';
import { slurm } from '../../packages/service/test/engines/slurm/slurm-rig.ts';
import { createWorkplace, type StartOptions, until, type Workplace } from '../e2e/workplace-rig.ts';

const isRoot = process.geteuid?.() === 0;
const user = process.env.SLUICE_TEST_SLURM_USER ?? 'nobody';
const isMissing = (process.env.SLUICE_TEST_SLURM !== '1' && process.env.CI !== 'true') || !isRoot;

/** Four samples, each in two steps, and one that needs all. Each command reports its start to `port`. */
const pipelineTo = (port: number) => `version: 1
name: samples
axes: { sample: [A, B, C, D] }
steps:
  count:
    each: sample
    script: ${report('count/${{ each.sample }}', port)}; sleep 2; echo "\${{ each.sample }} $(id -un)" > /out/counts/text
    outputs: [counts]
  check:
    each: sample
    inputs: { counts: count.counts }
    script: ${report('check/${{ each.sample }}', port)}; sleep 1; cp /in/counts/text /out/checked/text
    outputs: [checked]
    resources: { cpu: 2, memory: 1GB }
    slurm: { partition: second, nodelist: n2 }
  join:
    inputs: { all: check.checked }
    script: ${report('join', port)}; cat $(find /in/all -name text | sort) > /out/table/table.txt
    outputs: [table]
outputs:
  table: { from: join.table, publish: ./results }
`;
const report = (cell: string, port: number) => `bash -c 'echo samples/${cell} >/dev/tcp/127.0.0.1/${port}'`;
const CELLS = ['count', 'check'].flatMap((step) => ['A', 'B', 'C', 'D'].map((sample) => `samples/${step}/${sample}`));
const ALL = [...CELLS, 'samples/join'].sort();

describe.skipIf(isMissing)('runs of a user of Slurm without a server', () => {
  let place: Workplace;
  let reports: Server;
  /** The cells whose commands have started, as they say themselves. */
  let starts: string[];
  beforeEach(async () => {
    starts = [];
    reports = createServer(async (socket) => {
      starts.push((await text(socket)).trim());
    }).listen(0, '127.0.0.1');
    await once(reports, 'listening');
    // Not beneath /tmp, of which each container has its own.
    place = createWorkplace(undefined, '/var/tmp');
    writeFileSync(join(place.directory, 'pipeline.yaml'), pipelineTo((reports.address() as AddressInfo).port));
    execFileSync('chown', ['-R', `${user}:`, place.directory]);
  });
  afterEach(() => {
    place.remove();
    reports.close();
  });

  const start = (args: readonly string[], { env, ...options }: StartOptions = {}) => {
    const prefix = ['/usr/bin/setpriv', `--reuid=${user}`, `--regid=${user}`, '--init-groups'];
    return place.start(args, { ...options, prefix, env: { HOME: place.directory, USER: user, ...env } });
  };
  const sluice = (...args: string[]) => start(args).ended;
  /** What Slurm itself has recorded about the ended jobs of this workplace, a line for each. */
  const jobRecords = () =>
    readFileSync(`${process.env.SLUICE_TEST_SLURM_STATE}/log/jobs.txt`, 'utf8')
      .split('\n')
      .filter((line) => line.includes(` WorkDir=${place.directory}/`));
  /** Their names, sorted. */
  const endedJobs = () =>
    jobRecords()
      .map((line) => / Name=(.*) JobState=/.exec(line)![1]!)
      .sort();
  /**
   * Each cell was started once. It may have had two jobs: that of an interrupted `sbatch` can appear so late that another was
   * submitted, and only the job with the claim runs the command.
   */
  const expectOneStartOfEach = async () => {
    await until(() => new Set(endedJobs()).size >= ALL.length, 'Slurm has recorded all jobs');
    expect(starts.toSorted(), jobRecords().join('\n')).toEqual(ALL);
    expect([...new Set(endedJobs())]).toEqual(ALL);
  };
  const showRun = async () => JSON.parse((await sluice('show', '--json')).stdout) as RunReportValue;

  test('a command that is killed is resumed, and starts nothing twice', async () => {
    const killed = start(['run', '--engine', 'slurm']);
    await until(() => endedJobs().length >= 3 || killed.process.exitCode !== null, 'some jobs have ended');
    killed.process.kill('SIGKILL');
    await killed.ended;

    // The run has recorded the engine.
    const resumed = await sluice('resume');
    expect(resumed).toMatchObject({ exitCode: 0 });
    const lines = ['A', 'B', 'C', 'D'].map((sample) => `${sample} ${user}\n`);
    expect(place.read('results/table.txt')).toBe(lines.join(''));
    await expectOneStartOfEach();
    const { status, steps } = await showRun();
    expect(status).toBe('succeeded');
    expect(steps.flatMap(({ cells }) => cells).every(({ attempt }) => attempt === 1)).toBe(true);

    const rerun = await sluice('rerun');
    expect(rerun.stderr + rerun.stdout).toContain('9 reused');
  });

  test('the engine and its options can be those of a profile, and other options need another home', async () => {
    const profile = (name: string, options: object) => {
      const file = join(place.directory, name);
      writeFileSync(file, JSON.stringify({ engine: 'slurm', options }));
      return file;
    };
    const main = profile('main.yaml', { partition: 'urgent', timeLimit: '10m', pollInterval: '200ms' });
    const first = start(['run', '--profile', main]);
    const jobs = () =>
      slurm('squeue', '--noheader', '--format=%Z|%P|%l')
        .split('\n')
        .filter((line) => line.startsWith(`${place.directory}/`));
    await until(() => jobs().length > 0 || first.process.exitCode !== null, 'a job');
    expect(jobs()[0]).toMatch(/\|urgent\|10:00$/);

    const other = await sluice('run', '--profile', profile('other.yaml', { partition: 'main' }));
    expect(other).toMatchObject({ exitCode: 3, stdout: '' });
    expect(other.stderr).toContain('another process runs it with other options of the engine slurm');
    expect(await first.ended).toMatchObject({ exitCode: 0 });
  });

  test('defaults of sbatch in the environment hold, also for a run that is a job, and others do not', async () => {
    const env = { SBATCH_PARTITION: 'urgent', SBATCH_ARRAY_INX: '1-3', SBATCH_WAIT: '1' };
    const submitted = await start(['run', '--engine', 'slurm', '--as-job', '--json'], { env }).ended;
    expect(submitted).toMatchObject({ exitCode: 0 });
    const { job } = JSON.parse(submitted.stdout) as { job: string };
    await until(() => endedJobs().length >= 2, 'some jobs have ended');
    slurm('scancel', job);
    expect(jobRecords().every((line) => line.includes(' Partition=urgent '))).toBe(true);
    const shown = slurm('scontrol', '--oneliner', 'show', 'job', job);
    expect(shown).toMatch(/ Partition=urgent /);
    expect(shown).not.toContain('ArrayJobId');
  });

  test.each([
    ['Slurm puts its job back into the queue', (job: string) => slurm('scontrol', 'requeue', job)],
    ['the time limit of its job is near', (job: string) => slurm('scancel', '--batch', '--signal=URG', job)],
  ])('a run that is itself a job goes on when %s, and starts nothing twice', async (_when, interrupt) => {
    const submitted = await sluice('run', '--engine', 'slurm', '--as-job', '--json');
    expect(submitted).toMatchObject({ exitCode: 0 });
    const { job, log } = JSON.parse(submitted.stdout) as { job: string; log: string };
    await until(() => endedJobs().length >= 2, 'some jobs have ended');
    interrupt(job);
    const shown = () => slurm('scontrol', '--oneliner', 'show', 'job', job);
    await until(() => / JobState=PENDING .* Restarts=1 /.test(shown()), 'the job waits again');
    // Slurm would wait two minutes; the credential of the first start is revoked for the second in which the job ended.
    slurm('scontrol', 'update', `JobId=${job}`, 'StartTime=now+5');
    await until(() => shown().includes(' JobState=COMPLETED '), 'the job has ended');

    expect(await showRun()).toMatchObject({ status: 'succeeded' });
    await expectOneStartOfEach();
    expect(readFileSync(log, 'utf8')).toContain('samples succeeded');
    expect(place.read('results/table.txt').split('\n')).toHaveLength(5);
  });

  test('a run that Slurm would not accept as a job is not recorded', async () => {
    const profile = join(place.directory, 'other.yaml');
    writeFileSync(profile, 'engine: slurm\noptions: { partition: absent }\n');
    const rejected = await sluice('run', '--profile', profile, '--as-job');
    expect(rejected).toMatchObject({ exitCode: 2, stdout: '' });
    expect(rejected.stderr).toMatch(/could not submit the run as a job: sbatch: .*partition.*; nothing was started/s);
    const local = await sluice('run', '--as-job');
    expect(local).toMatchObject({ exitCode: 2, stderr: expect.stringContaining('add --engine slurm') });
    expect((await sluice('runs', '--json')).stdout).toBe('');
  });

  test('a step with an image is rejected without a runtime', async () => {
    writeFileSync(
      join(place.directory, 'image.yaml'),
      'version: 1\nname: image\nsteps: { a: { image: "debian:12", command: [ls] } }\n',
    );
    const rejected = await sluice('run', '--engine', 'slurm', 'image.yaml');
    expect(rejected).toMatchObject({ exitCode: 2, stdout: '' });
    expect(rejected.stderr).toContain('could not run the image of step a: the engine slurm has no runtime for images');
  });

  test('with a runtime, steps with and without an image run in one pipeline', async () => {
    makeCharliecloudImage(join(place.directory, 'image'));
    const script = 'echo "${OF_IMAGE:-on the node}"';
    const steps = `a: { image: ${place.directory}/image, command: [sh, -c, '${script}'] }\n  b: { needs: [a], script: '${script}' }`;
    writeFileSync(join(place.directory, 'both.yaml'), `version: 1\nname: both\nsteps:\n  ${steps}\n`);
    writeFileSync(join(place.directory, 'images.yaml'), 'engine: slurm\noptions: { runtime: charliecloud }\n');
    execFileSync('chown', ['-R', `${user}:`, place.directory]);
    expect(await sluice('run', '--profile', './images.yaml', 'both.yaml')).toMatchObject({ exitCode: 0 });
    expect((await sluice('logs', 'a')).stdout).toBe('yes\n');
    expect((await sluice('logs', 'b')).stdout).toBe('on the node\n');
  });

  test.each<[what: string, args: string[], env: NodeJS.ProcessEnv, exitCode: number, message: string]>([
    ['there is no Slurm', [], { PATH: '/nonexistent' }, 3, 'sinfo is not on this machine'],
    ['there is no such partition', ['--profile', 'none.yaml'], {}, 3, 'Slurm has no partition none with nodes'],
    ['an option is unknown', ['--profile', 'typo.yaml'], {}, 3, "there is no option 'partiton'"],
    ['a core limit is given', ['--cpu', '2'], {}, 2, 'could not use --cpu with the engine slurm'],
  ])('nothing starts, and the message says why, if %s', async (_what, args, env, exitCode, message) => {
    writeFileSync(join(place.directory, 'none.yaml'), 'engine: slurm\noptions: { partition: none }\n');
    writeFileSync(join(place.directory, 'typo.yaml'), 'engine: slurm\noptions: { partiton: main }\n');
    const named = args.includes('--profile') ? [] : ['--engine', 'slurm'];
    const ended = await start(['run', ...named, ...args], { env }).ended;
    expect(ended).toMatchObject({ exitCode, stdout: '' });
    expect(ended.stderr).toContain(message);
    expect(endedJobs()).toEqual([]);
  });
});
