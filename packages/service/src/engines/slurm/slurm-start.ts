import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Launch } from '../engine.ts';
import { runtimeOf } from './check-runtime.ts';
import { chownToUser } from './chown-to-user.ts';
import { type SlurmCommands, SlurmError } from './slurm-commands.ts';
import type { SlurmConfig, SlurmPlacement } from './slurm-config.ts';
import { jobOwners, ownJobs, type SlurmQueue } from './slurm-queue.ts';
import type { SlurmRecords } from './slurm-records.ts';
import { parseJobId, sbatchArguments } from './slurm-request.ts';
import { slurmScript } from './slurm-script.ts';
import type { UnixUser } from './unix-user.ts';

/** The cluster's settings for a job. */
export interface StartJobOptions {
  readonly slurm: SlurmCommands;
  readonly config: SlurmConfig;
  readonly storage: string;
  readonly maskedPaths: readonly string[];
  /** The user who runs the job. Default: this process's user. */
  readonly user: UnixUser | undefined;
  /** From `placementOf`. */
  readonly placement: SlurmPlacement;
  /** The time limit, from `timeLimitOf`. Default: Slurm's. */
  readonly minutes: number | undefined;
  /** The job is an allocation: it gets whole nodes. */
  readonly isAgent: boolean;
}

/** Submits the container's job and returns its ID. Throws `SlurmError` if Slurm rejects it. */
export async function startJob(launch: Launch, records: SlurmRecords, options: StartJobOptions): Promise<string> {
  const { slurm, config, storage, maskedPaths, user, placement, minutes, isAgent } = options;
  const isRoot = user === undefined && process.geteuid?.() === 0;
  if (runtimeOf(launch, config) === 'none' && !isAgent) {
    for (const name of ['root', 'tmp']) await mkdir(join(launch.directory, name), { recursive: true, mode: 0o700 });
  }
  await records.writeIntent();
  if (user) await chownToUser(launch, user, storage);
  const input = slurmScript(launch, { ...config, isRoot, maskedPaths, isAgent, mpi: placement.mpi });
  const stdout = await slurm.run('sbatch', sbatchArguments(launch, { ...placement, minutes, isWholeNode: isAgent }), {
    user,
    input,
  });
  const jobId = parseJobId(stdout);
  if (jobId === undefined) throw new SlurmError(`sbatch printed no job ID: ${stdout.slice(0, 200)}`);
  return jobId;
}

/**
 * The ID of the job of an earlier submission, whose response may have been lost; undefined if there is none. Slurm's queue
 * takes precedence over records.
 */
export async function findJob(
  launch: Launch,
  records: SlurmRecords,
  jobs: () => Promise<SlurmQueue>,
): Promise<string | undefined> {
  const known = await records.readJobId();
  if (known === undefined && !(await records.hasIntent())) return undefined;
  const ours = ownJobs(await jobs(), { launch, owners: await jobOwners(launch.directory) });
  const job = ours.find(({ jobId }) => jobId === known) ?? ours[0];
  return job?.jobId ?? known ?? (await records.readStart())?.jobId;
}
