import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { EngineRig, RigContainer } from '../engine-rig.ts';
import type { CreateEngine } from '../engine-under-test.ts';
import createInJobs from './create-allocation-engine.ts';
import createInOneJob from './create-step-engine.ts';
import {
  endJob,
  hasSlurm,
  pidsOf,
  reserveNodes,
  restartController,
  restartNode,
  savedByController,
  slurm,
  slurmRig,
  until,
  waitFor,
} from './slurm-rig.ts';

/** In each round, `CONTAINERS` are started and something is ended. */
const ROUNDS = Number(process.env.SLUICE_ALLOCATION_ROUNDS ?? (process.env.SLUICE_SOAK === 'true' ? 200 : 12));
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

/** How agents run. */
interface Kind {
  readonly name: string;
  readonly create: CreateEngine;
  /** With an empty directory for the engine's files. */
  begin(directory: string): void;
  end(): Promise<void>;
  /** The jobs of the agents, or the job of which they are steps. */
  jobs(): readonly string[];
  /** What `scancel` takes to end one agent with its containers. */
  units(): readonly string[];
  /** Whether Slurm may end each job by its time limit. */
  readonly hasLimits: boolean;
}

const inJobs = (nodes: number): Kind => ({
  name: nodes === 1 ? 'in jobs of their own' : `in jobs of ${nodes} nodes`,
  create: createInJobs,
  begin: (directory) => {
    process.env.SLUICE_TEST_ALLOCATIONS = directory;
    process.env.SLUICE_TEST_ALLOCATION_NODES = String(nodes);
  },
  end: async () => {
    delete process.env.SLUICE_TEST_ALLOCATION_NODES;
    for (const id of allocations()) slurm('scancel', id);
    await until('the allocations have ended', () => allocations().length === 0);
  },
  jobs: allocations,
  units: allocations,
  hasLimits: true,
});

let jobId = '';
const inOneJob: Kind = {
  name: 'on the nodes of one job',
  create: createInOneJob,
  begin: (directory) => {
    const job = reserveNodes(2);
    jobId = job.id;
    process.env.SLUICE_TEST_JOB = JSON.stringify(job);
    process.env.SLUICE_TEST_STEPS = directory;
  },
  end: () => endJob(jobId),
  jobs: () => [jobId],
  units: () => steps(jobId),
  hasLimits: false,
};

describe.skipIf(!hasSlurm && process.env.CI !== 'true').each([inJobs(1), inJobs(2), inOneJob])(
  'allocations $name',
  (kind) => {
    let rig: EngineRig;
    let directory: string;
    beforeAll(async () => {
      directory = mkdtempSync(join(tmpdir(), 'sluice-allocations-'));
      kind.begin(directory);
      rig = slurmRig({ partition: 'main' }, kind.create);
      await rig.open();
    });
    afterAll(async () => {
      await rig.close();
      await kind.end();
      // An agent still writes its reports while its job completes. rmSync repeats only the removal of a directory, not of
      // the files that it got in between.
      await until('the files of the allocations are removed', () => {
        try {
          rmSync(directory, { recursive: true });
        } catch (error) {
          if ((error as NodeJS.ErrnoException).code !== 'ENOTEMPTY') throw error;
          return false;
        }
        return true;
      });
    });

    test(`lose and double nothing when jobs, agents, the service, the controller and nodes' daemons end at any time (seed ${SEED})`, async () => {
      const next = random(SEED);
      const pick = <T>(all: readonly T[]) => all[Math.floor(next() * all.length)];
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
          const unit = pick(kind.units());
          if (unit !== undefined) slurm('scancel', unit);
        },
        async () => {
          const pid = pick(agentsIn(directory));
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
          for (const id of kind.jobs()) await savedByController(id).catch(() => undefined);
          await restartController();
        },
        async () => restartNode(`n${1 + Math.floor(next() * 3)}`),
        async () => {
          const job = pick(kind.jobs());
          // Its agent does not know this limit: Slurm ends the job within two minutes.
          if (kind.hasLimits && job !== undefined) slurm('scontrol', 'update', `JobId=${job}`, 'TimeLimit=1');
        },
      ];
      for (let round = 0; round < ROUNDS; round++) {
        for (let index = 0; index < CONTAINERS; index++) await begin(`task-${round}-${index}`);
        await waitFor(next() * 3000);
        await harm[round % harm.length]!();
        await look();
      }
      while (open.size > 0) {
        const before = done.length;
        await until('another one has ended by itself', async () => {
          await look();
          return done.length > before || open.size === 0;
        });
      }
      expect(new Set(done).size).toBe(ROUNDS * CONTAINERS);
      const starts = readFileSync(ledger, 'utf8').split('\n').filter(Boolean);
      expect(starts.length, 'a start is doubled').toBe(new Set(starts).size);
      // Each attempt that has ended by itself was started once, and no attempt is missing.
      expect(starts.length).toBeGreaterThanOrEqual(ROUNDS * CONTAINERS);
      expect(starts.length).toBeLessThanOrEqual(attempts);
      console.log(`${ROUNDS} rounds: ${starts.length} starts, ${ended.length} ended with their allocation`);
    }, 3_600_000);
  },
);

function allocations(): readonly string[] {
  const lines = slurm('squeue', '--noheader', '--name=sluice-allocation', '--states=PENDING,RUNNING', '--format=%i');
  return lines.split('\n').filter(Boolean);
}

function steps(job: string): readonly string[] {
  const lines = slurm('squeue', '--noheader', '--steps', '--format=%i|%j')
    .split('\n')
    .map((line) => line.split('|'));
  return lines.flatMap(([id = '', name = '']) =>
    id.startsWith(`${job}.`) && name.startsWith('allocation-') ? [id] : [],
  );
}

/** Agents whose files are in `directory`, and what starts them on several nodes. */
const agentsIn = (directory: string) => pidsOf(`allocation/agent-main.js.*${directory}/`);
