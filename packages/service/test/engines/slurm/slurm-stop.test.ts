import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { EngineRig } from '../engine-rig.ts';
import {
  hasSlurm,
  otherUser,
  slurm,
  slurmRig,
  stateOfJob,
  submitTwin,
  until,
  untilWritten,
  withProgram,
} from './slurm-rig.ts';

const STUBBORN = ['sh', '-c', 'trap "" TERM; echo started; while :; do sleep 1; done'];

/** Nothing of a container runs, or can start, once its end is reported. */
describe.skipIf(!hasSlurm && process.env.CI !== 'true')('stop of the Slurm engine', () => {
  let rig: EngineRig;

  beforeAll(async () => {
    rig = slurmRig({ partition: 'main' });
    await rig.open();
  });
  afterAll(() => rig.close());

  /** Runs `work` while nothing can start in the partition. */
  async function withoutStarts<T>(work: () => Promise<T>): Promise<T> {
    slurm('scontrol', 'update', 'PartitionName=main', 'State=DOWN');
    try {
      return await work();
    } finally {
      slurm('scontrol', 'update', 'PartitionName=main', 'State=UP');
    }
  }

  /** The job of a waiting container. */
  const waitingJob = (reason: string) => /job (\d+)/.exec(reason)?.[1] ?? '';

  it('kills after the grace also where one answer of squeue lacked the job', async () => {
    await withProgram('squeue', '[ ! -e "$0.lost" ] || { rm "$0.lost"; exit 0; }', async (path) => {
      const own = slurmRig({ partition: 'main' });
      await own.open();
      const container = await own.launch({ command: STUBBORN });
      const { runID } = await container.seen('running');
      await own.untilLog(container, 'started');
      writeFileSync(`${path}.lost`, '');
      await own.engine.stop(container.launch.key, { graceMs: 1500 });
      await until('squeue has answered with nothing', () => !existsSync(`${path}.lost`));
      expect(await container.end()).toEqual({ kind: 'stopped' });
      expect(stateOfJob(runID)).not.toBe('RUNNING');
      await own.close();
    });
  });

  it.each([
    ['a command', {}],
    ['tasks', { job: { tasks: { nodes: 2, perNode: 2 } }, limits: { cores: 4 } }],
  ])('ends %s when asked while the container is set up', async (_what, more) => {
    const root = await rig.makeDirectory('many');
    const mounts = Array.from({ length: 300 }, (_, i) => {
      return { root, subPath: '', kind: 'dir' as const, target: `/in/${i}` };
    });
    const container = await rig.launch({ command: ['sleep', '600'], mounts, ...more });
    await untilWritten(join(container.launch.directory, 'start.json'));
    await rig.engine.stop(container.launch.key, { graceMs: 600_000 });
    expect(await container.end()).toEqual({ kind: 'stopped' });
    expect(JSON.parse(readFileSync(join(container.launch.directory, 'exit.json'), 'utf8'))).toEqual({
      exitCode: 143,
      asked: true,
    });
  });

  it('leaves no job behind that no answer of squeue names', async () => {
    await withProgram('squeue', '[ ! -e "$0.lost" ] || exit 0', async (path) => {
      const own = slurmRig({ partition: 'main' });
      await own.open();
      const container = await own.launch({ command: STUBBORN });
      const { runID } = await container.seen('running');
      await own.untilLog(container, 'started');
      writeFileSync(`${path}.lost`, '');
      await own.engine.stop(container.launch.key, { graceMs: 600_000 });
      expect(await container.end()).toEqual({ kind: 'stopped' });
      expect(stateOfJob(runID)).not.toBe('RUNNING');
      await own.close();
    });
  });

  it('lets no job of a lost submission start that comes after the end', async () => {
    const late = `[ ! -e "$0.slow" ] || {
  rm "$0.slow"
  cat >"$0.script"
  (while [ ! -e "$0.go" ]; do sleep 0.1; done; PATH='${process.env.PATH}' sbatch "$@" <"$0.script" >"$0.jobId") >/dev/null 2>&1 &
  exit 1
}`;
    await withProgram('sbatch', late, async (path) => {
      const own = slurmRig({ partition: 'main' });
      await own.open();
      const root = await own.makeDirectory('late');
      const mounts = [{ root, subPath: '', kind: 'dir' as const, target: '/v' }];
      const container = await own.prepare({ command: ['sh', '-c', 'echo started >> /v/starts'], mounts });
      writeFileSync(`${path}.slow`, '');
      await expect(own.engine.launch(container.launch)).rejects.toMatchObject({ code: 'UNAVAILABLE' });
      await withoutStarts(async () => {
        await own.engine.launch(container.launch);
        await container.seen('pending');
        await own.engine.stop(container.launch.key, { graceMs: 0 });
        expect(await container.end()).toEqual({ kind: 'stopped' });
      });
      writeFileSync(`${path}.go`, '');
      const twin = () => readFileSync(`${path}.jobId`, 'utf8').trim();
      await until('the late job is submitted', () => existsSync(`${path}.jobId`) && twin() !== '');
      await until('it has ended', () => !/PENDING|CONFIGURING|RUNNING|COMPLETING/.test(stateOfJob(twin()) ?? ''));
      expect(existsSync(join(root, 'starts'))).toBe(false);
      await own.close();
    });
  });

  it('cancels every job of a container, not only the one it knows', async () => {
    await withoutStarts(async () => {
      const container = await rig.launch({ command: ['true'] });
      const { reason } = await container.seen('pending');
      const twin = submitTwin(container.launch);
      await rig.engine.stop(container.launch.key, { graceMs: 0 });
      expect(await container.end()).toEqual({ kind: 'stopped' });
      expect([stateOfJob(waitingJob(reason)), stateOfJob(twin)]).toEqual(['CANCELLED', 'CANCELLED']);
    });
  });

  it('ends the job that has the claim where it waits for another one', async () => {
    const container = await withoutStarts(async () => {
      const waiting = await rig.launch({ command: STUBBORN });
      slurm('scontrol', 'hold', waitingJob((await waiting.seen('pending')).reason));
      return waiting;
    });
    const twin = submitTwin(container.launch);
    await rig.untilLog(container, 'started');
    await rig.engine.stop(container.launch.key, { graceMs: 300 });
    expect(await container.end()).toEqual({ kind: 'stopped' });
    expect(stateOfJob(twin)).not.toBe('RUNNING');
  });

  it('leads no port to a host that only a record names', async () => {
    await withProgram('squeue', '[ ! -e "$0.away" ] || exit 1; [ ! -e "$0.lost" ] || exit 0', async (path) => {
      const own = slurmRig({ partition: 'main' });
      await own.open();
      const container = await own.prepare({ command: ['sleep', '600'] });
      writeFileSync(`${path}.lost`, '');
      writeFileSync(`${path}.away`, '');
      await own.engine.launch(container.launch);
      const record = join(container.launch.directory, 'start.json');
      await until('the job has started', () => existsSync(record) && readFileSync(record, 'utf8').endsWith('\n'));
      const { jobId } = JSON.parse(readFileSync(record, 'utf8'));
      writeFileSync(record, `{"node":"192.0.2.1","jobId":"${jobId}"}\n`);
      rmSync(`${path}.away`);
      await container.seen('ended');
      expect(container.observations.filter((one) => one.type === 'running')).toEqual([]);
      slurm('scancel', jobId);
      await own.close();
    });
  });
});

describe.skipIf((!hasSlurm && process.env.CI !== 'true') || process.geteuid?.() !== 0)('a hidden partition', () => {
  const partition = `hidden-${process.pid}`;

  beforeAll(() => {
    slurm('scontrol', 'create', `PartitionName=${partition}`, 'Nodes=n1', 'Hidden=YES', 'State=UP');
  });
  afterAll(async () => {
    await until('nothing runs there', () => slurm('squeue', '--all', '--noheader', `--partition=${partition}`) === '');
    slurm('scontrol', 'delete', `PartitionName=${partition}`);
  });

  it('runs containers for a service that is not root', async () => {
    const asUser = `exec setpriv --reuid=${otherUser} --regid=${otherUser} --init-groups env PATH='${process.env.PATH}' squeue "$@"`;
    await withProgram('squeue', asUser, async () => {
      const rig = slurmRig({ partition });
      await rig.open();
      const container = await rig.launch({ command: ['sh', '-c', 'echo ready; sleep 600'] });
      await container.seen('running');
      await rig.untilLog(container, 'ready');
      await rig.engine.stop(container.launch.key, { graceMs: 0 });
      expect(await container.end()).toEqual({ kind: 'stopped' });
      await rig.close();
    });
  });
});
