import { execFileSync } from 'node:child_process';
import { chmodSync, mkdtempSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { slurmConfigSchema } from '../../../src/engines/slurm/slurm-config.ts';
import { createSlurmEngine } from '../../../src/engines/slurm/slurm-engine.ts';
import type { SlurmJobConfig } from '../../../src/engines/slurm/slurm-job-config.ts';
import { createSlurmStepEngine } from '../../../src/engines/slurm/slurm-step-engine.ts';
import { EngineRig } from '../engine-rig.ts';
import { endJob, hasSlurm, reserveNodes, slurmSubject } from './slurm-rig.ts';

const programs = [
  { mpi: 'pmi2', source: 'exchange.c', library: '-lpmi2' },
  // The headers of Open MPI need a compiler for Fortran.
  { mpi: 'pmix', source: 'open-mpi.c', library: '-l:libmpi.so.40' },
].map((program) => ({ ...program, path: fileURLToPath(new URL(program.source, import.meta.url)) }));
const isMissing = (!hasSlurm && process.env.CI !== 'true') || process.geteuid?.() !== 0;
const user = process.env.SLUICE_TEST_SLURM_USER ?? 'nobody';

/** By the client of Slurm, since MPICH 4.0 may hang in `MPI_Finalize` where its processes have to share processors. */
describe
  .skipIf(isMissing)
  .each<{ as: string; unixUsers?: Record<string, string>; isInJob?: boolean }>([
    { as: 'as root' },
    { as: 'as a user', unixUsers: { tester: user } },
    { as: 'in a job', isInJob: true },
  ])('Slurm engine with MPI, $as', ({ unixUsers, isInJob = false }) => {
  const storage = isMissing ? '' : mkdtempSync('/var/tmp/sluice-storage-');
  const times = { pollInterval: '200ms', recordGrace: '2000ms' };
  const config = slurmConfigSchema.parse({ allow: ['mpi'], ...times, ...(unixUsers && { unixUsers }) });
  const subject = { ...slurmSubject({ partition: 'main' }), directory: storage };
  const options = { storage, maskedPaths: [] };
  let job: SlurmJobConfig | undefined;
  const create = () =>
    job === undefined ? createSlurmEngine(config, options) : createSlurmStepEngine(job, { ...options, config });
  const rig = new EngineRig(create, subject);
  const limits = { cores: 4, memoryBytes: 1024 * 2 ** 20 };
  const linesOf = (text: string) => text.split('\n').filter(Boolean).sort();

  beforeAll(async () => {
    chmodSync(storage, 0o711);
    if (isInJob) job = reserveNodes(2);
    await rig.open();
  });
  afterAll(async () => {
    await rig.close();
    if (job !== undefined) await endJob(job.id);
    await rm(storage, { recursive: true, force: true });
  });

  it.each(
    programs.flatMap((program) => [
      { ...program, nodes: 2, perNode: 2 },
      { ...program, nodes: 1, perNode: 4 },
    ]),
  )('connects the tasks by the server of Slurm: $mpi, $nodes × $perNode', async ({ mpi, path, library, ...tasks }) => {
    const root = await rig.makeDirectory('program');
    execFileSync(process.env.CC ?? 'cc', ['-o', join(root, 'exchange'), path, library]);
    const container = await rig.launch({
      command: ['/program/exchange'],
      // The nodes are one machine, and Open MPI would connect their tasks by its memory.
      env: tasks.nodes > 1 ? { OMPI_MCA_btl: 'tcp,self' } : {},
      mounts: [{ root, subPath: '', kind: 'dir', target: '/program' }],
      limits,
      job: { tasks: { nodes: tasks.nodes, perNode: tasks.perNode }, slurm: { mpi } },
    });
    expect(await container.end(), await container.text()).toEqual({ kind: 'exited', exitCode: 0 });
    expect(linesOf(await container.text())).toEqual([0, 1, 2, 3].map((rank) => `${rank}: ${rank} of 4: 60`));
  });

  it('passes no connection without the option: a task could start processes outside', async () => {
    // By its name, a task could not find the first node.
    const script = 'echo "at $MASTER_ADDR"; env | grep -c ^PMI; ls /proc/self/fd | grep -vc "^[0-3]$"; :';
    const container = await rig.run(script, { limits, job: { tasks: { nodes: 1, perNode: 2 } } });
    expect(linesOf(await container.text())).toEqual(
      ['0', '1'].flatMap((rank) => [`${rank}: 0`, `${rank}: 0`, `${rank}: at 127.0.0.1`]),
    );
  });
});
