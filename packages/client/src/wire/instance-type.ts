import { z } from 'zod';
import { boundedName } from './bounded-name.ts';

/** The extensions of the protocol that a cluster may announce (docs/protocol.md, "Our extensions"). */
export const FEATURES = {
  /** The label `sluice-writable-mounts` is honored: all other mounts are read-only. */
  readOnlyMounts: 'read-only-mounts',
  /** Images can be resolved to digests (`Discovery.resolveImage`). */
  imageDigests: 'image-digests',
  /** A container can use more memory than its instance type has. */
  unlimitedMemory: 'unlimited-memory',
  /** The label `sluice-secret-envs` is honored: secret variables are encrypted and shown in no reply. */
  secretEnvs: 'secret-envs',
  /** The label `sluice-job` may have `name` and `comment`. */
  jobNames: 'job-names',
  /** The label `sluice-job` may have `time`. */
  timeLimits: 'time-limits',
  /** The label `sluice-job` may have `slurm`. */
  slurmOptions: 'slurm-options',
  /** The label `sluice-job` may have `duration`. */
  expectedDurations: 'expected-durations',
  /** The label `sluice-job` may have `tasks`. */
  multiNode: 'multi-node',
  /** The label `sluice-job` may have `docker`. */
  dockerOptions: 'docker-options',
  /** The label `sluice-job` may have `pullTime`. */
  pullTimes: 'pull-times',
} as const;
/** The name of an extension in `InstanceType.features`. */
export type Feature = (typeof FEATURES)[keyof typeof FEATURES];

/** Kind and amount of resources for a container (protocol, "InstanceType"). */
export const instanceTypeSchema = z.looseObject({
  id: boundedName,
  clusterID: boundedName,
  cpu: z.looseObject({ cores: z.number(), model: z.string().optional() }),
  memory: z.looseObject({ sizeGB: z.number() }),
  gpu: z.looseObject({ count: z.number(), model: z.string().optional() }).optional(),
  /** Extensions that the type's cluster supports (`FEATURES`); clients ignore unknown names. */
  features: z.array(z.string()).optional(),
});
/** Kind and amount of resources for a container. `memory.sizeGB` is in GB. */
export type InstanceType = z.infer<typeof instanceTypeSchema>;

/** Reply of endpoint 2. */
export const instanceTypeListSchema = z.looseObject({ instanceTypes: z.array(instanceTypeSchema) });
