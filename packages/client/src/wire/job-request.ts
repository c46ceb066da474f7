import { z } from 'zod';
import { FEATURES, type Feature } from './instance-type.ts';

/**
 * The label with what a client requests for a container from the system behind the engine, as JSON (`JobRequest`). A client sends only the fields
 * that the service announces; other services ignore the label.
 */
export const JOB_LABEL = 'sluice-job';

/** Ten years: the longest `time`. */
export const LONGEST_JOB_MS = 3650 * 86_400_000;

/** Without `/`: Slurm reads a list of nodes from the file that it names. */
const option = z
  .string()
  .regex(
    /^(?![ -])[A-Za-z0-9_.,:;=+@*&|!()[\]{} -]{1,500}$/,
    'must be up to 500 letters, digits, blanks and _.,:;=+@*&|!()[]{}-, and not begin with a blank or -',
  );
/** It is an argument of the site's mail program, and becomes no option of it. */
const address = z
  .string()
  .regex(/^[A-Za-z0-9][A-Za-z0-9_.+=-]{0,200}(?:@[A-Za-z0-9.-]{1,200})?$/, 'must be a mail address');

/**
 * Options of `sbatch`, by their names there; `mail` is an address that is notified of the end, `mpi` the plugin with which
 * `srun` starts several tasks.
 */
const slurmOptions = z.strictObject({
  partition: option.exactOptional(),
  qos: option.exactOptional(),
  account: option.exactOptional(),
  constraint: option.exactOptional(),
  exclusive: z.boolean().exactOptional(),
  licenses: option.exactOptional(),
  reservation: option.exactOptional(),
  gres: option.exactOptional(),
  nodelist: option.exactOptional(),
  exclude: option.exactOptional(),
  mail: address.exactOptional(),
  mpi: z
    .string()
    .regex(/^[a-z][a-z0-9_]{0,31}$/, 'must be the name of a plugin, such as pmi2')
    .exactOptional(),
});

/** The limits that `ulimits` may name. */
export const ULIMITS = [
  'core',
  'cpu',
  'data',
  'fsize',
  'memlock',
  'msgqueue',
  'nofile',
  'nproc',
  'sigpending',
  'stack',
] as const;
const limit = z.int().min(-1);
const ulimit = z
  .strictObject({ soft: limit, hard: limit })
  .refine(({ soft, hard }) => hard === -1 || (soft !== -1 && soft <= hard), 'soft must be at most hard');
const user = z
  .string()
  .regex(
    /^(?:\d{1,10}|[a-z_][a-z0-9_.-]{0,31})(?::(?:\d{1,10}|[a-z_][a-z0-9_.-]{0,31}))?$/i,
    'must be the number or name of a user, with or without :group',
  );

/** When an image is pulled. */
export const PULL_POLICIES = ['always', 'missing', 'never'] as const;

/** Options of a container, by the words of Docker. */
const dockerOptions = z.strictObject({
  /** In bytes. */
  shmSize: z.int().positive().exactOptional(),
  /** In the units of the kernel; -1: no limit. */
  ulimits: z.partialRecord(z.enum(ULIMITS), ulimit).exactOptional(),
  user: user.exactOptional(),
  pull: z.enum(PULL_POLICIES).exactOptional(),
});

const taskCount = z.int().min(1).max(1000);

/** The value of `JOB_LABEL`. */
export const jobRequestSchema = z.strictObject({
  /** With the feature `job-names`: what people call the container. It identifies nothing. */
  name: z.string().min(1).max(4096).exactOptional(),
  comment: z.string().max(4096).exactOptional(),
  /**
   * With the feature `time-limits`: the milliseconds that it runs at most. If a system has a shorter limit, it rejects a time
   * that is required; otherwise its own limit is used.
   */
  time: z.strictObject({ ms: z.int().positive().max(LONGEST_JOB_MS), required: z.boolean() }).exactOptional(),
  /** With the feature `expected-durations`: the milliseconds that it will probably run. Nothing is enforced. */
  duration: z.int().positive().max(LONGEST_JOB_MS).exactOptional(),
  /**
   * With the feature `multi-node`: on how many nodes the command is started, and how many times on each. The instance type is
   * that of one task.
   */
  tasks: z.strictObject({ nodes: taskCount, perNode: taskCount }).exactOptional(),
  /** With the feature `slurm-options`. Only what the service's administrator allows is accepted. */
  slurm: slurmOptions.exactOptional(),
  /** With the feature `docker-options`. Only what the service's administrator allows is accepted. */
  docker: dockerOptions.exactOptional(),
  /** With the feature `pull-times`: for how many milliseconds a pull is repeated while the registry cannot be asked. */
  pullTime: z.int().positive().max(LONGEST_JOB_MS).exactOptional(),
});
/** What a client requests from the system behind the engine, for example from Slurm. */
export type JobRequest = z.infer<typeof jobRequestSchema>;

/** The feature with which a service announces each field. */
export const JOB_FEATURES: Readonly<Record<keyof JobRequest, Feature>> = {
  name: FEATURES.jobNames,
  comment: FEATURES.jobNames,
  time: FEATURES.timeLimits,
  tasks: FEATURES.multiNode,
  slurm: FEATURES.slurmOptions,
  duration: FEATURES.expectedDurations,
  docker: FEATURES.dockerOptions,
  pullTime: FEATURES.pullTimes,
};
