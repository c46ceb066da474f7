import { appendFileSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { slurmConfigSchema } from '../../../src/engines/slurm/slurm-config.ts';
import { createSlurmEngine } from '../../../src/engines/slurm/slurm-engine.ts';
import type { EngineRig, RigContainer } from '../engine-rig.ts';
import { hasSlurm, otherUser, runAs, slurm, slurmRig, stateOfJob, until, withProgram } from './slurm-rig.ts';

const isRoot = process.geteuid?.() === 0;
const asOther = (program: string, ...args: string[]) => runAs(otherUser, program, ...args);

/** A second user of the cluster who may submit jobs, and tries to end, hide or imitate those of the service. */
describe.skipIf((!hasSlurm && process.env.CI !== 'true') || !isRoot)('Slurm engine and another user', () => {
  let rig: EngineRig;

  beforeAll(async () => {
    // A forged end would count at the next look.
    const config = slurmConfigSchema.parse({ pollInterval: '200ms', recordGrace: '0s' });
    rig = slurmRig({ partition: 'main' }, () => createSlurmEngine(config, { storage: rig.directory }));
    await rig.open();
  });
  afterEach(() => {
    slurm('scancel', `--user=${otherUser}`);
  });
  afterAll(() => rig.close());

  const submitAsOther = (name: string, ...args: string[]) =>
    asOther('sbatch', '--parsable', `--job-name=${name}`, '--output=/dev/null', ...args, '--wrap=sleep 600').trim();

  /** A container that notes each start and ends when `go` appears in its volume. */
  async function prepare(name: string) {
    const root = await rig.makeDirectory(name);
    const mounts = [{ root, subPath: '', kind: 'dir' as const, target: '/gate' }];
    const script = 'echo started >>/gate/starts; while [ ! -e /gate/go ]; do sleep 0.1; done; exit 4';
    const container = await rig.prepare({ command: ['sh', '-c', script], mounts });
    return {
      container,
      open: () => writeFileSync(join(root, 'go'), ''),
      starts: () => readFileSync(join(root, 'starts'), 'utf8'),
    };
  }

  /** Runs `work` on an engine of its own, and waits until that has asked for the queue `times` more, as often as wanted. */
  async function withCountedLooks(work: (looks: (times: number) => Promise<void>) => Promise<void>): Promise<void> {
    await rig.leave();
    const count = join(rig.directory, 'looks');
    appendFileSync(count, '');
    const looks = () => readFileSync(count, 'utf8').length;
    await withProgram('squeue', `printf x >>'${count}'`, async () => {
      await rig.start();
      await work(async (times) => {
        const from = looks();
        await until('the engine has looked again', () => looks() >= from + times);
      });
      await rig.leave();
    });
    await rig.start();
  }

  const hasEnded = ({ observations }: RigContainer) => observations.some((one) => one.type === 'ended');

  it('cannot end a container by lines in the name of a job', async () => {
    await withCountedLooks(async (looks) => {
      const { container, open, starts } = await prepare('forged');
      await rig.engine.launch(container.launch);
      const { runID } = await container.seen('running');
      const { directory } = container.launch;
      const lines = [
        `${runID}|COMPLETED|n1|0|None|${directory}`,
        `|${runID}|COMPLETED|n1|0|None;x;${directory}`,
        `{"job_id": ${runID}, "job_state": "COMPLETED"}`,
      ];
      submitAsOther(`x\n${lines.join('\n')}\n`, '--hold');
      // What it hopes for: a line that looks like one of ours.
      expect(slurm('squeue', '--noheader', '--format=%j').split('\n')).toContain(lines[0]);
      await looks(4);
      expect(hasEnded(container)).toBe(false);
      open();
      expect(await container.end()).toEqual({ kind: 'exited', exitCode: 4 });
      expect(starts()).toBe('started\n');
    });
  });

  it('is not asked for: the service reads only the jobs of its own users', async () => {
    await rig.leave();
    const args = join(rig.directory, 'squeue-arguments');
    await withProgram('squeue', `echo "$*" >>'${args}'`, async () => {
      await rig.start();
      const { container, open } = await prepare('own');
      await rig.engine.launch(container.launch);
      open();
      await container.end();
      await rig.leave();
    });
    await rig.start();
    const calls = readFileSync(args, 'utf8').trim().split('\n');
    for (const call of calls) expect(call).toMatch(new RegExp(`--user=${process.geteuid?.()}( |$)`));
  });

  it('cannot pass a job off as that of a container, before and after it is submitted', async () => {
    await withCountedLooks(async (looks) => {
      const { container, open, starts } = await prepare('named');
      const same = [`--chdir=${container.launch.directory}`, `--comment=${container.launch.key}`] as const;
      const name = `sluice-${container.launch.key}`;
      const before = submitAsOther(name, ...same);
      // As where the answer of an earlier submission was lost: the engine looks for a job of this directory.
      writeFileSync(join(container.launch.directory, 'slurm-intent'), '');
      await rig.engine.launch(container.launch);
      const { runID } = await container.seen('running');
      expect(runID).not.toBe(before);
      const after = submitAsOther(name, ...same);
      await until('they run', () => [before, after].every((jobId) => stateOfJob(jobId) === 'RUNNING'));
      asOther('scancel', before);
      await looks(4);
      expect(hasEnded(container)).toBe(false);
      open();
      expect(await container.end()).toEqual({ kind: 'exited', exitCode: 4 });
      expect(starts()).toBe('started\n');
    });
  });

  it('loses no job to the end of a container whose name and directory it has taken', async () => {
    const { container } = await prepare('theirs');
    await rig.engine.launch(container.launch);
    await container.seen('running');
    const { key, directory } = container.launch;
    const theirs = submitAsOther(`sluice-${key}`, `--chdir=${directory}`);
    await until('it runs', () => stateOfJob(theirs) === 'RUNNING');
    await rig.engine.stop(container.launch.key, { graceMs: 0 });
    expect(await container.end()).toEqual({ kind: 'stopped' });
    expect(stateOfJob(theirs)).toBe('RUNNING');
  });

  it('cannot cancel, hold or rename the job of a container', async () => {
    const { container, open } = await prepare('scancel');
    await rig.engine.launch(container.launch);
    const { runID } = await container.seen('running');
    expect(() => asOther('scancel', runID)).toThrow(/denied/i);
    expect(() => asOther('scontrol', 'requeue', runID)).toThrow(/denied/i);
    expect(() => asOther('scontrol', 'update', `JobId=${runID}`, 'JobName=mine')).toThrow(/invalid user id/i);
    open();
    expect(await container.end()).toEqual({ kind: 'exited', exitCode: 4 });
  });
});
