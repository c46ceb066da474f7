import type { Launch } from '../engine.ts';
import { jobOwners } from './slurm-queue.ts';
import type { SlurmRecords } from './slurm-records.ts';

/** A container that the engine watches. */
export interface TrackedContainer {
  readonly launch: Launch;
  readonly records: SlurmRecords;
  /** Whose jobs may be the container's. */
  readonly owners: ReadonlySet<number>;
  /** '' of a job that has made the claim and is not yet known by its number. */
  jobID: string;
  stopped: boolean;
  running: boolean;
  /** Slurm's last known state of the job. */
  state: string | undefined;
  reason: string;
  /** When the job was first missed in the queue without an exit record, by a monotonic clock. */
  missedAt: number | undefined;
  /** The next try to kill it: the controller may be away when the grace period ends. */
  kill: NodeJS.Timeout | undefined;
  /** The earliest deadline that a stop has set, by a monotonic clock. */
  killAt: number;
}

export async function createTrackedContainer(
  launch: Launch,
  from: Pick<TrackedContainer, 'records' | 'jobID'>,
): Promise<TrackedContainer> {
  return {
    ...{ launch, ...from },
    owners: await jobOwners(launch.directory),
    stopped: await from.records.isStopped(),
    running: false,
    state: undefined,
    reason: '',
    missedAt: undefined,
    kill: undefined,
    killAt: Number.POSITIVE_INFINITY,
  };
}
