import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { EngineRig, RigContainer } from '../engine-rig.ts';
import create from './create-allocation-engine.ts';
import { hasSlurm, restartController, savedByController, slurm, slurmRig, until, waitFor } from './slurm-rig.ts';

/** In each round, `CONTAINERS` are started and something is ended. */
const ROUNDS = Number(process.env.SLUICE_ALLOCATION_ROUNDS ?? (process.env.SLUICE_SOAK === 'true' ? 200 : 8));
const CONTAINERS = 12;
const SEED = Number(process.env.SLUICE_ALLOCATION_SEED) || Date.now() % 2 ** 31;

/** A small generator (mulberry32), so that a failure can be repeated by its seed. */
function random(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let value = Math.imul(state ^ (state >>> 15), 1 | state);
    value = (value + Math.imul(value ^ (value >>> 7), 61 | value)) ^ value;
    return ((value ^ (value >>> 14)) >>> 0) / 2 ** 32;
  };
}

describe.skipIf(!hasSlurm && process.env.CI !== 'true')('allocations on a real cluster', () => {
  let rig: EngineRig;
  beforeAll(async () => {
    process.env.SLUICE_TEST_ALLOCATIONS = mkdtempSync(join(tmpdir(), 'sluice-allocations-'));
    rig = slurmRig({ partition: 'main' }, create);
    await rig.open();
  });
  afterAll(async () => {
    await rig.close();
    for (const { id } of allocations()) slurm('scancel', id);
    await until('the allocations have ended', () => allocations().length === 0);
    // An agent still writes its reports while its job completes. rmSync repeats only the removal of a directory, not of
    // the files that it got in between.
    await until('the files of the allocations are removed', () => {
      try {
        rmSync(process.env.SLUICE_TEST_ALLOCATIONS!, { recursive: true });
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'ENOTEMPTY') throw error;
        return false;
      }
      return true;
    });
  });

  test('make a job of what no node can hold, which Slurm rejects', async () => {
    const container = await rig.launch({ command: ['true'], limits: { cores: 5 } });
    expect(await container.end()).toMatchObject({ kind: 'rejected', reason: expect.stringContaining('sbatch') });
  });

  test(`lose and double nothing when jobs, agents, the service and the controller end at any time (seed ${SEED})`, async () => {
    const next = random(SEED);
    const ledger = join(await rig.makeDirectory('ledger'), 'starts');
    const volume = { root: join(rig.directory, 'ledger'), subPath: '', kind: 'dir', target: '/v' } as const;
    /** What is to be done, and the container that does it now. */
    const open = new Map<string, RigContainer>();
    const done: string[] = [];
    const ended: string[] = [];
    let attempts = 0;
    const begin = async (task: string) => {
      const seconds = (next() * 2).toFixed(2);
      attempts += 1;
      const script = `echo ${task}-${attempts} >>/v/starts; sleep ${seconds}; exit 42`;
      const container = await rig.prepare({ command: ['sh', '-c', script], mounts: [volume] });
      open.set(task, container);
      await rig.engine.launch(container.launch);
    };
    /** Begins again what ended with its allocation, and what never started. */
    const look = async () => {
      for (const [task, container] of [...open]) {
        const end = container.observations.find((one) => one.type === 'ended' || one.type === 'absent');
        if (end === undefined) continue;
        open.delete(task);
        if (end.type === 'ended' && end.end.kind === 'exited') {
          expect(end.end).toEqual({ kind: 'exited', exitCode: 42 });
          done.push(task);
          continue;
        }
        if (end.type === 'ended')
          expect(end.end, `the end of ${task}`).toEqual({
            kind: 'fault',
            reason: expect.stringMatching(/^allocation ended/),
          });
        if (end.type === 'ended') ended.push(task);
        await begin(task);
      }
    };
    const harm = [
      async () => {
        const jobs = allocations();
        const job = jobs[Math.floor(next() * jobs.length)];
        if (job !== undefined) slurm('scancel', job.id);
      },
      async () => {
        const pids = agents();
        const pid = pids[Math.floor(next() * pids.length)];
        if (pid !== undefined) process.kill(pid, 'SIGKILL');
      },
      async () => {
        await rig.leave();
        for (const container of open.values()) container.forget();
        await rig.start();
        await rig.engine.recover([...open.values()].map(({ launch }) => launch));
      },
      async () => {
        // It forgets what it has not saved: that is another failure, after which it drains the nodes.
        for (const { id } of allocations()) await savedByController(id).catch(() => undefined);
        await restartController();
      },
    ];
    for (let round = 0; round < ROUNDS; round++) {
      for (let index = 0; index < CONTAINERS; index++) await begin(`task-${round}-${index}`);
      await waitFor(next() * 3000);
      await harm[round % harm.length]!();
      await look();
    }
    await until('all have ended', async () => {
      await look();
      return open.size === 0;
    });
    expect(new Set(done).size).toBe(ROUNDS * CONTAINERS);
    const starts = readFileSync(ledger, 'utf8').split('\n').filter(Boolean);
    expect(starts.length, 'a start is doubled').toBe(new Set(starts).size);
    // Each attempt that has ended by itself was started once, and no attempt is missing.
    expect(starts.length).toBeGreaterThanOrEqual(ROUNDS * CONTAINERS);
    expect(starts.length).toBeLessThanOrEqual(attempts);
    console.log(`${ROUNDS} rounds: ${starts.length} starts, ${ended.length} ended with their allocation`);
  }, 3_600_000);
});

function allocations(): { readonly id: string }[] {
  const lines = slurm('squeue', '--noheader', '--name=sluice-allocation', '--states=PENDING,RUNNING', '--format=%i');
  return lines
    .split('\n')
    .filter(Boolean)
    .map((id) => ({ id }));
}

function agents(): number[] {
  try {
    const lines = execFileSync('pgrep', ['-f', 'allocation/agent-main.js'], { encoding: 'utf8' }).split('\n');
    return lines.filter(Boolean).map(Number);
  } catch {
    return [];
  }
}
