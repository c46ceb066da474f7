import type { Launch } from '../engine.ts';
import type { SlurmRecords } from './slurm-records.ts';

/** A container that the engine watches. */
export interface TrackedJob {
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
  /** When the job was first missed in the queue without an exit record, by a clock that nobody sets. */
  missedAt: number | undefined;
  /** The next try to kill it: the controller may be away when the grace is over. */
  kill: NodeJS.Timeout | undefined;
  /** The earliest deadline that a stop has set, by a clock that is never set. */
  killAt: number;
}
