import { z } from 'zod';

const MAX_PARAMS = 1_000;
/** The most characters of the value of a parameter in an order. It may be a table of a hundred thousand rows. */
export const MAX_PARAM_LENGTH: number = 32 * 1024 * 1024;
const MAX_LABELS = 90;
const path = z.string().min(1).max(4_096);

/** The engines of embedded services. */
export const ENGINE_NAMES = ['local', 'slurm', 'slurm-job'] as const;
/** One of `ENGINE_NAMES`. */
export type EngineName = (typeof ENGINE_NAMES)[number];

/** Paths are absolute; a profile may be a name. */
export const runSettings = z.strictObject({
  params: z
    .record(z.string().min(1).max(256), z.string().max(MAX_PARAM_LENGTH))
    .refine((params) => Object.keys(params).length <= MAX_PARAMS, `at most ${MAX_PARAMS} parameters`)
    .describe('values by name, as after `-p`'),
  labels: z
    .record(z.string().min(1).max(256), z.string().max(4_096))
    .refine((labels) => Object.keys(labels).length <= MAX_LABELS, `at most ${MAX_LABELS} labels`)
    .exactOptional()
    .describe('labels beside those of the pipeline, by name'),
  root: path.exactOptional(),
  ignoreImages: z.literal(true).exactOptional(),
  profile: path.exactOptional(),
  service: path.exactOptional(),
  account: path.exactOptional(),
  cluster: path.exactOptional(),
  engine: z.enum(ENGINE_NAMES).exactOptional().describe('the engine of the embedded service'),
  cpu: z.number().int().min(1).exactOptional(),
});

/**
 * What a user chooses for the runs of a pipeline file: the parameters, and the options that select the service and how the
 * file is read. Those of a schedule belong to it, and no run changes them.
 */
export type RunSettings = z.infer<typeof runSettings>;

/** The schema of `RunOrder`. */
export const runOrder = runSettings.extend({
  file: path.describe('absolute path of the pipeline file'),
  parallelism: z.number().int().min(1).exactOptional().describe('most containers at once'),
  here: z.literal(true).exactOptional().describe('executed on this machine, although the server of the service could'),
  stopAtApproval: z.literal(true).exactOptional().describe('leave the run when it only waits for an approval'),
});

/** What starts a run, and the same run again; stored with it. Secrets, the home and what is reused are not part of it. */
export type RunOrder = z.infer<typeof runOrder>;
