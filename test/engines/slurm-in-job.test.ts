import { execFileSync } from 'node:child_process';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { RunReportValue } from '@sluice/run';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { makeCharliecloudImage } from '../../packages/service/test/engines/slurm/charliecloud-image.ts';
import { runAs, slurm } from '../../packages/service/test/engines/slurm/slurm-rig.ts';
import { COMMAND, createWorkplace, until, type Workplace } from '../e2e/workplace-rig.ts';

const isRoot = process.geteuid?.() === 0;
const user = process.env.SLUICE_TEST_SLURM_USER ?? 'nobody';
const isMissing = (process.env.SLUICE_TEST_SLURM !== '1' && process.env.CI !== 'true') || !isRoot;

/** Each cell uses most of a node's cores, and writes its name when it starts. */
const pipeline = ({ cells, seconds, cpu }: { cells: readonly string[]; seconds: number; cpu: number }) => `version: 1
name: samples
axes: { sample: [${cells.join(', ')}] }
steps:
  count:
    each: sample
    script: echo "$(date +%s) \${{ each.sample }} $(cat /proc/sys/kernel/random/uuid)"; sleep ${seconds}; echo "\${{ each.sample }}" > /out/counts/text
    outputs: [counts]
    resources: { cpu: ${cpu}, memory: 1GB }
  join:
    inputs: { all: count.counts }
    script: cat $(find /in/all -name text | sort) > /out/table/table.txt
    outputs: [table]
outputs:
  table: { from: join.table, publish: ./results }
`;

describe.skipIf(isMissing)('a run inside a job of Slurm', () => {
  let place: Workplace;
  beforeEach(() => {
    // Not beneath /tmp, of which each container has its own.
    place = createWorkplace(undefined, '/var/tmp');
    execFileSync('chown', ['-R', `${user}:`, place.directory]);
  });
  afterEach(() => {
    for (const [job] of jobs()) slurm('scancel', job!);
    place.remove();
  });

  const write = (name: string, text: string) => {
    const file = join(place.directory, name);
    writeFileSync(file, text, { mode: 0o755 });
    execFileSync('chown', [`${user}:`, file]);
    return file;
  };
  /** Submits a script that calls the command so. */
  const submit = (args: readonly string[], options: readonly string[]) =>
    submitLines([`'${process.execPath}' '${COMMAND}' ${args.join(' ')}`, 'echo "exit code $?"'], options);
  const submitLines = (lines: readonly string[], options: readonly string[]) => {
    const all = ['#!/bin/sh', `export HOME='${place.directory}' SLUICE_HOME='${place.home}'`, ...lines];
    const script = write('job.sh', `${all.join('\n')}\n`);
    const where = [`--chdir=${place.directory}`, `--output=${place.directory}/job.out`, '--open-mode=append'];
    return runAs(user, 'sbatch', '--parsable', ...where, ...options, script).trim();
  };
  const sluice = (...args: string[]) => {
    const prefix = ['/usr/bin/setpriv', `--reuid=${user}`, `--regid=${user}`, '--init-groups'];
    return place.start(args, { prefix, env: { HOME: place.directory, USER: user } }).ended;
  };
  const output = () => (existsSync(join(place.directory, 'job.out')) ? place.read('job.out') : '');
  const showRun = async () => JSON.parse((await sluice('show', '--json')).stdout) as RunReportValue;
  /** Jobs of this workplace that have not ended. */
  const jobs = () =>
    slurm('squeue', '--noheader', '--format=%i|%Z')
      .split('\n')
      .map((line) => line.split('|'))
      .filter(([, directory]) => directory === place.directory);
  const stateOf = (job: string) => / JobState=(\w+) /.exec(slurm('scontrol', '--oneliner', 'show', 'job', job))?.[1];
  const hasEnded = (job: string) => until(() => jobs().every(([id]) => id !== job), `job ${job} has ended`);
  const nodesOf = (job: string) =>
    slurm('squeue', '--noheader', '--steps', '--format=%i|%j|%N')
      .split('\n')
      .map((line) => line.split('|'))
      .filter(([id, name]) => id!.startsWith(`${job}.`) && name!.startsWith('allocation-'))
      .map(([, , node]) => node)
      .sort();

  test('uses all nodes of the job without an option', async () => {
    write('pipeline.yaml', pipeline({ cells: ['A', 'B', 'C', 'D'], seconds: 4, cpu: 3 }));
    const job = submit(['run'], ['--nodes=2', '--ntasks-per-node=4', '--nodelist=n1,n3']);
    await until(() => nodesOf(job).length === 2 || output().includes('exit code'), 'two agents');
    expect(nodesOf(job)).toEqual(['n1', 'n3']);
    await hasEnded(job);
    expect(output()).toContain(`using Slurm job ${job}: 2 nodes, 8 cores\n`);
    expect(output()).toMatch(/exit code 0\n$/);
    expect(place.read('results/table.txt')).toBe('A\nB\nC\nD\n');
    // The run has recorded the engine, so its files are found outside of the job.
    expect((await sluice('logs', 'count/A')).stdout).toMatch(/ A [0-9a-f-]{36}\n$/);
  });

  describe('with a step on several nodes', () => {
    const training = (seconds: number) => `version: 1
name: training
axes: { sample: [A, B, C] }
steps:
  count:
    each: sample
    script: sleep 2; echo counted
    resources: { cpu: 4, memory: 1GB }
  train:
    nodes: 2
    tasksPerNode: 2
    outputs: [model]
    resources: { cpu: 1, memory: 1GB }
    script: |
      echo "$RANK of $WORLD_SIZE on $SLUICE_NODE_RANK of $SLUICE_HOSTS"; echo x >>/out/model/starts
      sleep ${seconds}
`;
    const lines = ['0: 0 of 4 on 0', '1: 1 of 4 on 0', '2: 2 of 4 on 1', '3: 3 of 4 on 1'];
    const logged = async () => (await sluice('logs', 'train')).stdout.split('\n').filter(Boolean).sort();
    const training4 = 'train: { nodes: 4, command: [hostname], resources: { cpu: 1, memory: 1GB } }';

    test('gives it whole nodes of the job, and runs others on the rest', async () => {
      write('pipeline.yaml', training(1));
      const job = submit(['run'], ['--nodes=3', '--ntasks-per-node=4']);
      await hasEnded(job);
      expect(output()).toMatch(/exit code 0\n$/);
      expect((await logged()).map((line) => line.replace(/ of n\d,n\d$/, ''))).toEqual(lines);
    });

    test('starts it once when the command is killed, and ends it when the run is canceled', async () => {
      write('pipeline.yaml', training(600));
      const twice = `timeout --signal=KILL 20 '${process.execPath}' '${COMMAND}' run; '${process.execPath}' '${COMMAND}' resume`;
      const job = submitLines([twice, 'echo "exit code $?"'], ['--nodes=2', '--ntasks-per-node=4']);
      await until(() => output().includes('Killed'), 'the command is killed');
      await until(async () => (await showRun()).status === 'running', 'the run is resumed');
      await until(async () => (await logged()).length === 4, 'all tasks have begun');
      expect(await sluice('cancel', (await showRun()).runId)).toMatchObject({ exitCode: 0 });
      await hasEnded(job);
      expect(output()).toMatch(/exit code [1-9]\d*\n$/);
      expect((await logged()).map((line) => line.replace(/ of n\d,n\d$/, ''))).toEqual(expect.arrayContaining(lines));
      expect((await showRun()).steps.find(({ step }) => step === 'train')?.cells[0]).toMatchObject({ attempt: 1 });
    });

    test('does not take its exit with 0 at the end of the job for a success, and tries it again at no cost of a retry', async () => {
      write('pipeline.yaml', training(12).replace('script: |', "script: |\n      trap 'exit 0' TERM"));
      const options = ['--nodes=2', '--ntasks-per-node=4'];
      const first = submit(['run'], options);
      await until(async () => (await logged()).length === 4, 'all tasks have begun');
      slurm('scancel', first);
      await hasEnded(first);
      const second = submit(['resume'], options);
      await hasEnded(second);
      expect(output()).toMatch(/exit code 0\n$/);
      expect(output()).toContain('train    retry as attempt 2 after: allocation ended');
      const { steps } = await showRun();
      expect(steps.find(({ step }) => step === 'train')?.cells[0]).toMatchObject({ status: 'succeeded', attempt: 2 });
    });

    test('says so if the job has too few', async () => {
      write('pipeline.yaml', `version: 1\nname: large\nsteps:\n  ${training4}\n`);
      const job = submit(['run'], ['--nodes=2', '--ntasks-per-node=4']);
      await hasEnded(job);
      expect(output()).toContain(`its tasks need 4 nodes with 1 core, 954 MiB each, and job ${job} has 2`);
    });
  });

  test('starts nothing twice when the command is killed, and continues it in the same job', async () => {
    write('pipeline.yaml', pipeline({ cells: ['A', 'B', 'C', 'D'], seconds: 4, cpu: 4 }));
    write('both.sh', 'timeout --signal=KILL 9 "$@" run; exec "$@" resume\n');
    const script = write(
      'job.sh',
      `#!/bin/sh\nexport HOME='${place.directory}' SLUICE_HOME='${place.home}'\nsh ./both.sh '${process.execPath}' '${COMMAND}'\necho "exit code $?"\n`,
    );
    const where = [`--chdir=${place.directory}`, `--output=${place.directory}/job.out`];
    const job = runAs(user, 'sbatch', '--parsable', ...where, '--nodes=2', '--ntasks-per-node=4', script).trim();
    await hasEnded(job);
    expect(output()).toMatch(/exit code 0\n$/);
    const { steps } = await showRun();
    expect(steps.flatMap(({ cells }) => cells).map(({ attempt }) => attempt)).toEqual([1, 1, 1, 1, 1]);
  });

  test('is suspended by the end of the job, and continues in another one', async () => {
    write('pipeline.yaml', pipeline({ cells: ['A', 'B'], seconds: 20, cpu: 4 }));
    const first = submit(['run'], ['--nodes=2', '--ntasks-per-node=4']);
    await until(() => nodesOf(first).length === 2, 'two agents');
    await until(async () => (await sluice('logs', 'count/B')).stdout !== '', 'a line of the log');
    slurm('scancel', first);
    await hasEnded(first);
    expect((await sluice('runs')).stdout).toContain('suspended');
    const outside = await sluice('resume', '--engine', 'slurm-job');
    expect(outside).toMatchObject({ exitCode: 3 });
    expect(outside.stderr).toContain('this is not in a job of Slurm');

    const second = submit(['resume'], ['--nodes=2', '--ntasks-per-node=4']);
    await hasEnded(second);
    expect(output()).toMatch(/exit code 0\n$/);
    expect(output()).toContain('allocation ended');
    // The end of the job costs no retry, and the step has none.
    expect(place.read('results/table.txt')).toBe('A\nB\n');
  });

  test('with --resubmit, continues in further starts of its job', async () => {
    write('pipeline.yaml', pipeline({ cells: ['A', 'B'], seconds: 25, cpu: 2 }));
    const job = submit(['run', '--resubmit'], ['--nodes=1', '--ntasks-per-node=2', '--time=1', '--requeue']);
    const shown = () => slurm('scontrol', '--oneliner', 'show', 'job', job);
    await until(() => / JobState=PENDING .* Restarts=1 /.test(shown()), 'the job waits again');
    // Slurm would wait two minutes.
    slurm('scontrol', 'update', `JobId=${job}`, 'StartTime=now+5');
    await until(() => stateOf(job) === 'COMPLETED' || / Restarts=2 /.test(shown()), 'the job has ended');
    expect(stateOf(job)).toBe('COMPLETED');
    expect(output()).toContain(`suspending: job ${job} is about to reach its time limit`);
    expect(output()).toContain(`putting job ${job} into the queue again; its next start continues the run`);
    expect(output()).toMatch(/exit code 0\n$/);
    expect((await sluice('runs', '--json')).stdout.trim().split('\n')).toHaveLength(1);
    expect(place.read('results/table.txt')).toBe('A\nB\n');
  });

  test('on one node has the cores of the job', async () => {
    write('pipeline.yaml', pipeline({ cells: ['A'], seconds: 0, cpu: 3 }));
    const job = submit(['run'], ['--nodes=1', '--ntasks=1', '--cpus-per-task=2']);
    await hasEnded(job);
    expect(output()).toMatch(/exit code 2\n$/);
    expect(output()).toContain('local-2');
  });

  test('gives steps the GPUs of the job', async () => {
    const step = `resources: { cpu: 1, memory: 1GB, gpu: 1 }, script: 'echo "gpu $CUDA_VISIBLE_DEVICES"; sleep 3'`;
    write('pipeline.yaml', `version: 1\nname: cards\nsteps:\n  a: { ${step} }\n  b: { ${step} }\n`);
    const job = submit(['run', '--engine', 'slurm-job'], ['--nodes=1', '--ntasks=4', '--gres=gpu:2']);
    await hasEnded(job);
    expect(output()).toMatch(/exit code 0\n$/);
    const logs = [await sluice('logs', 'a'), await sluice('logs', 'b')].map(({ stdout }) => stdout);
    expect(logs.sort()).toEqual(['gpu 0\n', 'gpu 1\n']);
  });

  test('runs images with Charliecloud beside other steps, if the profile says so', async () => {
    const image = join(place.directory, 'image');
    makeCharliecloudImage(image);
    execFileSync('chown', ['-R', `${user}:`, image]);
    const step = (script: string, rest: string) =>
      `{ image: ${image}, command: [sh, -c, '${script}'], resources: { cpu: 1, memory: 1GB }, ${rest} }`;
    const one = step('echo "in the image: $OF_IMAGE"', '');
    const two = step('echo "$OF_IMAGE $RANK"', 'nodes: 2, needs: [one]');
    const three = `{ script: 'echo "\${OF_IMAGE:-on the node}"', resources: { cpu: 1, memory: 1GB } }`;
    write('pipeline.yaml', `version: 1\nname: images\nsteps:\n  one: ${one}\n  two: ${two}\n  three: ${three}\n`);
    const options = ['--nodes=2', '--ntasks-per-node=4'];
    const first = submit(['run'], options);
    await hasEnded(first);
    expect(output()).toContain('the engine slurm-job has no runtime for images');
    write('in-job.yaml', 'engine: slurm-job\noptions: { runtime: charliecloud }\n');
    const second = submit(['run', '--profile', './in-job.yaml'], options);
    await hasEnded(second);
    expect(output()).toMatch(/exit code 0\n$/);
    expect((await sluice('logs', 'one')).stdout).toBe('in the image: yes\n');
    expect((await sluice('logs', 'two')).stdout.split('\n').sort()).toEqual(['', '0: yes 0', '1: yes 1']);
    expect((await sluice('logs', 'three')).stdout).toBe('on the node\n');
  });

  test.each([
    ['outside of a job', [], 'this is not in a job of Slurm'],
    ['in a job without a script', ['srun', '--ntasks=1'], 'it has no script that Slurm could start again'],
  ])('rejects --resubmit %s', async (_where, before, message) => {
    write('pipeline.yaml', pipeline({ cells: ['A'], seconds: 0, cpu: 1 }));
    const prefix = ['/usr/bin/setpriv', `--reuid=${user}`, `--regid=${user}`, '--init-groups', ...before];
    const env = { HOME: place.directory, USER: user };
    const rejected = await place.start(['run', '--resubmit'], { prefix, env }).ended;
    expect(rejected).toMatchObject({ exitCode: 2, stdout: '' });
    expect(rejected.stderr).toContain(message);
  });
});
