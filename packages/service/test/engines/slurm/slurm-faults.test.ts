import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { EngineRig } from '../engine-rig.ts';
import create from './create-engine.ts';
import {
  crashNode,
  hasSlurm,
  restartController,
  savedByController,
  slurm,
  slurmRig,
  startNode,
  submitTwin,
  until,
  withProgram,
} from './slurm-rig.ts';

describe.skipIf(!hasSlurm && process.env.CI !== 'true')('Slurm engine on a real cluster', () => {
  let rig: EngineRig;

  beforeAll(async () => {
    rig = slurmRig({ partition: 'main' });
    await rig.open();
  });
  afterAll(() => rig.close());

  /** A container that writes one line per start and ends when `go` appears in its volume, or at once when asked. */
  async function waiting() {
    const root = await rig.makeDirectory(`gate-${Date.now()}`);
    const mounts = [{ root, subPath: '', kind: 'dir' as const, target: '/gate' }];
    const script =
      'trap "exit 0" TERM; echo started >> /gate/ledger; while [ ! -e /gate/go ]; do sleep 0.1; done; echo done; exit 4';
    const container = await rig.launch({ command: ['sh', '-c', script], mounts });
    return { container, root, ledger: () => readFileSync(join(root, 'ledger'), 'utf8') };
  }

  const open = (root: string) => writeFileSync(join(root, 'go'), '');

  /** Slurm does not resume a node that it has not yet heard of again. */
  function resumes(node: string): boolean {
    try {
      slurm('scontrol', 'update', `NodeName=${node}`, 'State=RESUME');
      return true;
    } catch {
      return !/drain|down/.test(slurm('sinfo', '--noheader', '-n', node, '-o', '%t'));
    }
  }

  it('finds a submission whose answer was lost and does not submit again', async () => {
    const { container, root, ledger } = await waiting();
    await container.seen('running');
    await rig.leave();
    rmSync(join(container.launch.directory, 'slurm-job'));
    await rig.start();
    await rig.engine.launch(container.launch);
    open(root);
    expect(await container.end()).toMatchObject({ kind: 'exited', exitCode: 4 });
    expect(ledger()).toBe('started\n');
  });

  it('lets only one of two jobs for one container start', async () => {
    const { container, root, ledger } = await waiting();
    submitTwin(container.launch);
    await container.seen('running');
    await until('the second job has ended itself', () => {
      const jobs = slurm('squeue', '--noheader', '--states=RUNNING,PENDING', '--format=%Z').split('\n');
      return jobs.filter((job) => job === container.launch.directory).length === 1;
    });
    open(root);
    expect(await container.end()).toMatchObject({ kind: 'exited', exitCode: 4 });
    expect(ledger()).toBe('started\n');
  });

  it('loses nothing when the controller is restarted under a running job', async () => {
    const { container, root, ledger } = await waiting();
    const { runID } = await container.seen('running');
    await savedByController(runID);
    await restartController();
    open(root);
    expect(await container.end()).toMatchObject({ kind: 'exited', exitCode: 4 });
    expect(ledger()).toBe('started\n');
  });

  it('says why a job waits when the nodes are drained, and runs it afterwards', async () => {
    slurm('scontrol', 'update', 'NodeName=n1,n2,n3', 'State=DRAIN', 'Reason=test');
    const container = await rig.launch({ command: ['true'] });
    await container.seen('pending');
    const saysWhy = () =>
      container.observations.some(
        (one) => one.type === 'pending' && /Resources|Nodes|ReqNodeNotAvail|DOWN/i.test(one.reason),
      );
    await until('the reason names the nodes', saysWhy);
    await until('the nodes may work again', () => ['n1', 'n2', 'n3'].every(resumes));
    expect(await container.end()).toEqual({ kind: 'exited', exitCode: 0 });
  });

  it('ends a job as a fault that names preemption when a more urgent partition takes its place', async () => {
    const { container } = await waiting();
    const running = await container.seen('running');
    const urgent = slurmRig({ partition: 'urgent' });
    await urgent.open();
    const rivals = await Promise.all(
      [1, 2, 3].map(() => urgent.launch({ command: ['sleep', '4'], limits: { cores: 4 } })),
    );
    const end = await container.end();
    expect(end, running.nodeID).toMatchObject({ kind: 'fault', reason: expect.stringMatching(/PREEMPTED|CANCELLED/) });
    for (const rival of rivals) expect(await rival.end()).toEqual({ kind: 'exited', exitCode: 0 });
    await urgent.close();
  });

  it('ends a job as a fault when somebody else cancels it', async () => {
    const { container, root } = await waiting();
    const { runID } = await container.seen('running');
    await until('the command has started', () => existsSync(join(root, 'ledger')));
    slurm('scancel', runID);
    expect(await container.end()).toMatchObject({ kind: 'fault', reason: expect.stringContaining('CANCELLED') });
  });

  it('is not started again when somebody requeues its job', async () => {
    const { container, root, ledger } = await waiting();
    const { runID } = await container.seen('running');
    expect(() => slurm('scontrol', 'requeue', runID)).toThrow(/disabled/);
    open(root);
    expect(await container.end()).toMatchObject({ kind: 'exited', exitCode: 4 });
    expect(ledger()).toBe('started\n');
  });

  it('stops a job that an administrator has suspended', async () => {
    const { container, root } = await waiting();
    const { runID } = await container.seen('running');
    await until('the command has started', () => existsSync(join(root, 'ledger')));
    slurm('scontrol', 'suspend', runID);
    await rig.engine.stop(container.launch.key, { graceMs: 300 });
    expect(await container.end()).toEqual({ kind: 'stopped' });
  });

  it('believes no single answer of squeue that lacks a job', async () => {
    const { container: running, root } = await waiting();
    await running.seen('running');
    const held = await rig.prepare({ command: ['sh', '-c', 'exit 5'] });
    await withProgram('squeue', '[ ! -e "$0.lost" ] || { rm "$0.lost"; exit 0; }', async (path) => {
      const own = slurmRig({ partition: 'main' });
      await own.open();
      slurm('scontrol', 'update', 'PartitionName=main', 'State=DOWN');
      const waits = await own.launch({ command: held.launch.command });
      await waits.seen('pending');
      writeFileSync(`${path}.lost`, '');
      await until('squeue has answered with nothing', () => !existsSync(`${path}.lost`));
      slurm('scontrol', 'update', 'PartitionName=main', 'State=UP');
      expect(await waits.end()).toEqual({ kind: 'exited', exitCode: 5 });
      await own.close();
    });
    open(root);
    expect(await running.end()).toMatchObject({ exitCode: 4 });
  });

  it('says absent only of what no late submission can start', async () => {
    const gate = join(rig.directory, 'gate');
    await withProgram('sbatch', `while [ ! -e '${gate}' ]; do sleep 0.1; done`, async () => {
      const killed = slurmRig({ partition: 'main' });
      await killed.open();
      const root = await killed.makeDirectory('late');
      const mounts = [{ root, subPath: '', kind: 'dir' as const, target: '/v' }];
      const container = await killed.prepare({ command: ['sh', '-c', 'echo started >> /v/starts'], mounts });
      const submitting = killed.engine.launch(container.launch);
      await until('it is being submitted', () => existsSync(join(container.launch.directory, 'slurm-intent')));
      const next = create();
      await next.open({ report: (_key, observation) => container.report(container.launch.key, observation) });
      await next.recover([container.launch]);
      await container.seen('absent');
      await next.close();
      writeFileSync(gate, '');
      await submitting;
      await container.seen('ended');
      expect(existsSync(join(root, 'starts'))).toBe(false);
      await killed.close();
    });
  });

  it('ends a job that exceeds the time limit of its instance type as timed out', async () => {
    const limited = slurmRig({ partition: 'main', timeLimit: '1m' });
    await limited.open();
    const container = await limited.launch({ command: ['sleep', '600'] });
    await until('the limit of a minute has passed', () => container.observations.some((one) => one.type === 'ended'));
    expect(await container.end()).toMatchObject({ kind: 'exited', timedOut: true });
    await limited.close();
  }, 200_000);

  it('runs more jobs than the cluster has cores, each once', async () => {
    const root = await rig.makeDirectory('full');
    const mounts = [{ root, subPath: '', kind: 'dir' as const, target: '/full' }];
    const containers = await Promise.all(
      Array.from({ length: 30 }, (_, i) => rig.launch({ command: ['sh', '-c', `echo ${i} >> /full/ledger`], mounts })),
    );
    for (const container of containers) expect(await container.end()).toEqual({ kind: 'exited', exitCode: 0 });
    const lines = readFileSync(join(root, 'ledger'), 'utf8').trim().split('\n').map(Number);
    expect(lines.sort((a, b) => a - b)).toEqual(Array.from({ length: 30 }, (_, i) => i));
  });

  it('ends a job as a fault when its node dies with it', async () => {
    const { container, root } = await waiting();
    const { nodeID } = await container.seen('running');
    crashNode(nodeID);
    // As an administrator does; by itself a controller that was restarted may take minutes to miss the node.
    slurm('scontrol', 'update', `NodeName=${nodeID}`, 'State=DOWN', 'Reason=crashed');
    const end = await container.end();
    startNode(nodeID);
    // The command outlives a daemon that was killed, as it would not a machine; without its directory it would for ever.
    open(root);
    const record = join(container.launch.directory, 'exit.json');
    await until('the command has ended', () => readFileSync(record, 'utf8').includes('exitCode'));
    expect(end).toMatchObject({
      kind: 'fault',
      reason: expect.stringMatching(/NODE_FAIL|CANCELLED|FAILED|without an exit record/),
    });
    await until(`${nodeID} may work again`, () => resumes(nodeID));
    await until(`${nodeID} is back`, () =>
      /idle|mix|alloc/.test(slurm('sinfo', '--noheader', '-n', nodeID, '-o', '%t')),
    );
  }, 400_000);
});
