import { existsSync, mkdtempSync, readdirSync, readFileSync, utimesSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { probeProcess } from '../../../src/engines/process/process-probe.ts';
import { describeEngine } from '../describe-engine.ts';
import create from './create-step-engine.ts';
import {
  endJob,
  hasSlurm,
  pidsOf,
  reserveNodes,
  slurmRig,
  slurmSubject,
  until,
  untilWritten,
  withProgram,
} from './slurm-rig.ts';

const probe = await probeProcess({});
const limits = probe.works ? probe : { memory: 'rlimit', cores: 'none' };

describe.skipIf(!hasSlurm && process.env.CI !== 'true')('in a job on a real cluster', () => {
  let jobId: string;
  beforeAll(async () => {
    const job = reserveNodes(2);
    jobId = job.id;
    process.env.SLUICE_TEST_JOB = JSON.stringify(job);
    process.env.SLUICE_TEST_STEPS = mkdtempSync(join(tmpdir(), 'sluice-steps-'));
  });
  afterAll(() => endJob(jobId));

  test('rejects what no node of the job has, and says what to do', async () => {
    const rig = slurmRig({}, create);
    await rig.open();
    const large = await rig.launch({ command: ['true'], limits: { cores: 5 } });
    const reason = expect.stringContaining(`no node of job ${jobId} has 5 cores`);
    expect(await large.end()).toEqual({ kind: 'rejected', reason });
    await rig.close();
  });

  test('asks the node about a step that Slurm has forgotten, before its containers count as ended', async () => {
    const rig = slurmRig({}, create);
    await rig.open();
    const storage = process.env.SLUICE_TEST_STEPS!;
    const container = await rig.launch({ command: ['sleep', '600'] });
    await container.seen('running');
    const agents = () => pidsOf(`agent-main.js ${storage}/allocations/`);
    await rig.leave();
    for (const pid of agents()) process.kill(pid, 'SIGSTOP');
    // As if it had reported nothing for long.
    for (const name of readdirSync(join(storage, 'allocations')).filter((one) => !one.includes('.')))
      utimesSync(join(storage, 'allocations', name, 'reports'), 0, 0);
    const asked = join(storage, 'asked');
    const hide = 'case "$*" in *--steps*) exit 0 ;; esac';
    container.forget();
    await withProgram('squeue', hide, async () => {
      await withProgram('srun', `case "$*" in *cmdline*) echo x >>'${asked}' ;; esac`, async () => {
        await rig.start();
        await rig.engine.recover([container.launch]);
        await until('the node was asked twice', () => existsSync(asked) && readFileSync(asked, 'utf8').length >= 4);
        expect(container.observations.filter(({ type }) => type === 'ended')).toEqual([]);
        // The script that restarts the agent, too.
        for (const pid of [...pidsOf(`^/bin/sh -c .*${storage}/allocations/`), ...agents()])
          process.kill(pid, 'SIGKILL');
        expect(await container.end()).toEqual({ kind: 'fault', reason: expect.stringContaining('allocation ended') });
      });
    });
    await rig.close();
  });

  test.each([
    ['before Slurm lists its step', 'step-nodes', 1],
    ['while it is set up', 'start.json', 0],
  ])('asks a container with several tasks to end that is stopped %s', async (_when, file, delay) => {
    const script = 'trap "echo asked; exit 3" TERM; while :; do sleep 0.05; done';
    const job = { tasks: { nodes: 2, perNode: 2 } };
    await withProgram('srun', `sleep ${delay}`, async () => {
      const rig = slurmRig({}, create);
      await rig.open();
      const container = await rig.launch({ command: ['sh', '-c', script], limits: { cores: 4 }, job });
      await untilWritten(join(container.launch.directory, file));
      await rig.engine.stop(container.launch.key, { graceMs: 600_000 });
      expect(await container.end()).toEqual({ kind: 'stopped' });
      const exit: unknown = JSON.parse(readFileSync(join(container.launch.directory, 'exit.json'), 'utf8'));
      expect(exit).toMatchObject({ asked: true });
      await rig.close();
    });
  });

  describeEngine('on the nodes of a job of Slurm', create, {
    ...slurmSubject({}),
    // The nodes are this machine.
    memoryLimit: limits.memory === 'rlimit' ? 'process' : 'tree',
    coreLimit: limits.cores !== 'none',
    hidesInit: true,
    pipesLog: true,
    rejectsMissingCommand: true,
    module: fileURLToPath(new URL('./create-step-engine.ts', import.meta.url)),
    get environment() {
      const { SLUICE_TEST_JOB = '', SLUICE_TEST_STEPS = '' } = process.env;
      return { SLUICE_TEST_JOB, SLUICE_TEST_STEPS };
    },
  });
});
