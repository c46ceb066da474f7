import { rmSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { EngineRig } from '../engine-rig.ts';
import { onFullDisk } from '../on-full-disk.ts';
import create from './create-engine.ts';
import {
  duringControllerOutage,
  hasSlurm,
  savedByController,
  slurm,
  slurmRig,
  slurmSubject,
  stateOfJob,
  until,
  withProgram,
} from './slurm-rig.ts';

const isRoot = process.geteuid?.() === 0;

/** What the engine stands on is away, gone or full, and comes back. */
describe.skipIf(!hasSlurm && process.env.CI !== 'true')('Slurm engine without its cluster', () => {
  let rig: EngineRig;

  beforeAll(async () => {
    rig = slurmRig({ partition: 'main' });
    await rig.open();
  });
  afterAll(() => rig.close());

  async function gated(name: string) {
    const root = await rig.makeDirectory(name);
    const script = 'echo started >> /v/starts; while [ ! -e /v/go ]; do sleep 0.1; done; echo > /v/over; exit 4';
    const mounts = [{ root, subPath: '', kind: 'dir' as const, target: '/v' }];
    return await rig.prepare({ command: ['sh', '-c', script], mounts });
  }

  it('takes up all that it was asked while the controller was away', async () => {
    const [ending, unwanted, late] = [await gated('ending'), await gated('unwanted'), await gated('late')];
    for (const container of [ending, unwanted]) {
      await rig.engine.launch(container.launch);
      await savedByController((await container.seen('running')).runID);
    }
    await duringControllerOutage(async () => {
      await rig.write('ending/go', '');
      await rig.untilFile('ending/over');
      // Each call fails in its own time, and its caller tries again.
      const stop = rig.engine.stop(unwanted.launch.key, { graceMs: 300 });
      const rejected = expect.objectContaining({ code: 'UNAVAILABLE' });
      await Promise.all([
        expect(rig.engine.launch(late.launch)).rejects.toEqual(rejected),
        expect(stop).rejects.toEqual(rejected),
      ]);
      for (const { observations } of [ending, unwanted]) expect(observations.at(-1)?.type).toBe('running');
    });
    await until('Slurm takes the job', () =>
      rig.engine.launch(late.launch).then(
        () => true,
        () => false,
      ),
    );
    await rig.write('late/go', '');
    await rig.engine.stop(unwanted.launch.key, { graceMs: 300 });
    expect(await ending.end()).toEqual({ kind: 'exited', exitCode: 4 });
    expect(await unwanted.end()).toEqual({ kind: 'stopped' });
    expect(await late.end()).toEqual({ kind: 'exited', exitCode: 4 });
    for (const name of ['ending', 'unwanted', 'late']) expect(await rig.read(`${name}/starts`)).toBe('started\n');
  });

  it('stops a container again that a service was just stopping when it was killed', async () => {
    const container = await rig.launch({ command: ['sh', '-c', 'trap "" TERM; while :; do sleep 1; done'] });
    await container.seen('running');
    await rig.engine.stop(container.launch.key, { graceMs: 600_000 });
    await rig.leave();
    container.forget();
    await rig.start();
    await rig.engine.recover([container.launch]);
    await rig.engine.stop(container.launch.key, { graceMs: 300 });
    expect(await container.end()).toEqual({ kind: 'stopped' });
  });

  it('does not take an exit with 0 for a success if Slurm canceled and forgot the job while no service ran', async () => {
    const container = await rig.launch({ command: ['sh', '-c', 'trap "exit 0" TERM; while :; do sleep 0.1; done'] });
    const { runID } = await container.seen('running');
    await rig.leave();
    container.forget();
    slurm('scancel', runID);
    await until('the job has ended', () => stateOfJob(runID) === 'CANCELLED');
    // The answer of a Slurm that has forgotten the job, which it does after `MinJobAge`.
    await withProgram('squeue', 'exit 0', async () => {
      await rig.start();
      await rig.engine.recover([container.launch]);
      expect(await container.end()).toMatchObject({ kind: 'fault', reason: expect.stringContaining('CANCELLED') });
    });
    // The engine keeps the PATH with which it was made.
    await rig.leave();
    await rig.start();
  });

  it('ends what waits in a partition that is taken away as a fault with the state that Slurm gives', async () => {
    slurm('scontrol', 'create', 'PartitionName=passing', 'Nodes=n1', 'State=DOWN');
    const passing = slurmRig({ partition: 'passing' });
    await passing.open();
    const container = await passing.launch({ command: ['true'] });
    const { reason } = await container.seen('pending');
    await savedByController(/job (\d+)/.exec(reason)?.[1] ?? '');
    // It is not in slurm.conf: a controller that starts anew does not know it.
    await duringControllerOutage(async () => {});
    expect(await container.end()).toMatchObject({ kind: 'fault', reason: expect.stringMatching(/NODE_FAIL|queue/) });
    expect(await passing.rejection(await passing.prepare({ command: ['true'] }))).toMatchObject({
      reason: expect.stringMatching(/invalid partition/i),
    });
    await passing.close();
  });

  it.skipIf(!isRoot)('knows how a container ended that has filled its disk, and goes on with room', async () => {
    const makeRig = (directory: string) => new EngineRig(create, { ...slurmSubject({ partition: 'main' }), directory });
    await onFullDisk(makeRig, async ({ rig: small, container, filler }) => {
      expect(await container.end()).toEqual({ kind: 'exited', exitCode: 7 });
      rmSync(filler);
      const next = await small.launch({ command: ['sh', '-c', 'exit 3'] });
      expect(await next.end()).toEqual({ kind: 'exited', exitCode: 3 });
    });
  });
});
