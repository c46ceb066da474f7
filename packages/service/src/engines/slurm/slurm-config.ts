import { z } from 'zod';

/** What a cluster's configuration, or an instance type's `options`, may say to Slurm. */
const placementShape = {
  partition: z.string().optional(),
  qos: z.string().optional(),
  account: z.string().optional(),
  /** Slurm's own time limit, in minutes. */
  timeLimitMinutes: z.number().int().positive().optional(),
};

/** Per instance type: overrides what the cluster says. */
export const slurmPlacementSchema = z.strictObject(placementShape);
export type SlurmPlacement = z.infer<typeof slurmPlacementSchema>;

/** `engine: slurm` of a cluster's configuration. */
export const slurmConfigSchema = z.strictObject({
  ...placementShape,
  /** What runs an image on the nodes; `none` uses the node's own file system as the image. */
  runtime: z.enum(['none', 'podman', 'apptainer', 'charliecloud']).default('none'),
  /** The Unix user of each account, by account ID; absent: all jobs run as the service's own user. */
  unixUsers: z.record(z.string(), z.string().min(1)).optional(),
  /** Path of slurm.conf where it is not the usual one. */
  confPath: z.string().optional(),
  /** How often `squeue` is asked, in milliseconds. */
  pollMs: z.number().int().positive().default(1000),
  /** How long a job that left the queue may owe its exit record, in milliseconds: shared storage lags. */
  recordGraceMs: z.number().int().nonnegative().default(10_000),
});
export type SlurmConfig = z.infer<typeof slurmConfigSchema>;
