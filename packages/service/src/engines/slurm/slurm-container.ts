import type { StorageAccess } from '../../storage/storage-access.ts';
import type { Launch } from '../engine.ts';
import { jobOwners } from './slurm-queue.ts';
import type { SlurmRecords } from './slurm-records.ts';

/** The state of a container that the engine watches. */
export interface TrackedContainer {
  readonly launch: Launch;
  readonly records: SlurmRecords;
  /** User IDs whose jobs may belong to the container. */
  readonly owners: ReadonlySet<number>;
  /** Empty while a job holds the claim but its ID is not yet known. */
  jobId: string;
  stopped: boolean;
  running: boolean;
  /** Slurm's last known state of the job. */
  state: string | undefined;
  reason: string;
  /** When the job was first missing from the queue without an exit record, by a monotonic clock. */
  missedAt: number | undefined;
  /** Timer of the next attempt to kill it: the controller may not respond when the grace period ends. */
  kill: NodeJS.Timeout | undefined;
  /** The earliest deadline of all stop requests, by a monotonic clock. */
  killAt: number;
}

/** The initial state, read from the container's directory. Rejects if the directory does not exist. */
export async function createTrackedContainer(
  launch: Launch,
  { storage, ...from }: Pick<TrackedContainer, 'records' | 'jobId'> & { readonly storage: StorageAccess },
): Promise<TrackedContainer> {
  return {
    ...{ launch, ...from },
    owners: await storage.inThread(() => jobOwners(launch.directory)),
    stopped: await from.records.isStopped(),
    running: false,
    state: undefined,
    reason: '',
    missedAt: undefined,
    kill: undefined,
    killAt: Number.POSITIVE_INFINITY,
  };
}
