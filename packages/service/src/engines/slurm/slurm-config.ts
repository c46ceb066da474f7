import { durationSchema } from '@sluice/core';
import { z } from 'zod';
import { allocationConfigSchema } from '../allocation/allocation-config.ts';

const text = z.string().optional();

/** The options that a step can set, too. Here they are the administrator's, with any text. */
const optionShape = {
  partition: text,
  qos: text,
  account: text,
  constraint: text,
  exclusive: z.boolean().optional(),
  licenses: text,
  reservation: text,
  gres: text,
  nodelist: text,
  exclude: text,
  mail: text,
  mpi: text,
};
/** Their names. */
export const SLURM_OPTIONS = Object.keys(optionShape) as readonly (keyof typeof optionShape)[];

/** Slurm options that a cluster's configuration, or an instance type's `options`, may set. */
const placementShape = {
  ...optionShape,
  /** Slurm's own time limit, which counts whole minutes. */
  timeLimit: durationSchema({ min: '1m' }).optional(),
  /** The options that a step may set or replace. Default: none. */
  allow: z.array(z.enum(SLURM_OPTIONS, `must be one of ${SLURM_OPTIONS.join(', ')}`)).optional(),
};

/** Per instance type: overrides the cluster's settings. */
export const slurmPlacementSchema = z.strictObject(placementShape);
/** The Slurm options of one job. */
export type SlurmPlacement = z.infer<typeof slurmPlacementSchema>;

/** `engine: slurm` of a cluster's configuration. */
export const slurmConfigSchema = z.strictObject({
  ...placementShape,
  /** The program that runs images on the nodes; `none` runs commands directly on the node's file system. */
  runtime: z
    .enum(['none', 'podman', 'apptainer', 'charliecloud'], 'must be none, podman, apptainer or charliecloud')
    .default('none'),
  /**
   * With a runtime, a container without an image is rejected, or runs on the file system of the node, as with `none`. It
   * sees more there than in an image, so the administrator decides.
   */
  withoutImage: z.enum(['reject', 'node'], 'must be reject or node').default('reject'),
  /** The Unix user of each account, by account ID; absent: all jobs run as the service's own user. */
  unixUsers: z.record(z.string(), z.string().min(1)).optional(),
  /** Path of slurm.conf if it is not the default one. */
  confPath: z.string().optional(),
  /** Jobs that run many containers. Default: each container is a job. */
  allocations: allocationConfigSchema.optional(),
  /** Interval of the calls of `squeue`. */
  pollInterval: durationSchema({ min: '1ms', max: '1h' }).default('1s'),
  /** How long the exit record of a job that left the queue may be delayed by shared storage. */
  recordGrace: durationSchema({ max: '1h' }).default('10s'),
});
/** The checked configuration, with all defaults filled in. */
export type SlurmConfig = z.infer<typeof slurmConfigSchema>;
