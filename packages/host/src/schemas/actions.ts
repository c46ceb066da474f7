import { json, time } from '@sluice/run';
import { z } from 'zod';

/** A key of every action. */
export const dryRun: z.ZodDefault<z.ZodBoolean> = z
  .boolean()
  .default(false)
  .describe('return what would happen, and change nothing');

const paramsFile = z
  .string()
  .min(1)
  .max(4_096)
  .exactOptional()
  .describe('a YAML or JSON file below the project of the home, with values of parameters; `params` replaces them');

/** The bodies of `POST /runs/{runId}:ACTION`, by action. */
export const ACTION_BODIES = {
  cancel: z.strictObject({ dryRun }),
  approve: z.strictObject({ dryRun, step: z.string(), by: z.string().exactOptional() }),
  reject: z.strictObject({ dryRun, step: z.string(), by: z.string().exactOptional() }),
  resume: z.strictObject({ dryRun }),
  rerun: z
    .strictObject({
      dryRun,
      all: z.boolean().default(false).describe('run all steps; default: reuse successful, unchanged steps of the run'),
      from: z
        .array(z.string())
        .exactOptional()
        .describe('`STEP` or `STEP/CELL`: what is rerun with everything that depends on it'),
      params: z.record(z.string(), json).exactOptional().describe('parameters that replace those of the run'),
      paramsFile,
    })
    .refine(({ all, from }) => !all || from === undefined, 'must not have both all and from'),
} as const;

/** An action on a run. */
export type ActionName = keyof typeof ACTION_BODIES;

/** The body of `POST /runs`. */
export const submitBody = z.strictObject({
  dryRun,
  file: z.string().describe('absolute path of a pipeline file on the machine of the server'),
  params: z.record(z.string(), json).default({}),
  paramsFile,
});

/** The reply of `DELETE /runs/{runId}`. */
export const deletionReply = z.strictObject({
  runId: z.string(),
  deleted: z.boolean().describe('false: there is no such run, for example because an earlier request has deleted it'),
});

const previewedStep = z.strictObject({
  step: z.string(),
  cells: z.int().min(0).exactOptional().describe('the number of cells; absent if it is known only during the run'),
  reused: z.int().min(0).describe('the number of cells whose results are reused'),
  skipped: z.int().min(0).describe('the number of cells that are skipped'),
  reason: z.string().describe('why the others are run; empty if there are none'),
  reusedMs: z.number().min(0).describe('how long the reused cells ran when they were executed: the sum'),
  unmeasured: z.int().min(0).describe('the number of reused cells of which no duration is recorded'),
});

/** The reply of every action. */
export const actionReply = z.strictObject({
  runId: z.string().exactOptional().describe('the run that the action concerns; of a rerun or submission, the new run'),
  dryRun: z.boolean(),
  command: z.string().describe('the equivalent command line'),
  message: z.string().describe('what happens, in one sentence'),
  reused: z.array(z.string()).exactOptional().describe('steps whose earlier results are reused; absent if unknown'),
  run: z.array(z.string()).exactOptional().describe('steps that are run; absent if unknown'),
  steps: z
    .array(previewedStep)
    .exactOptional()
    .describe('of a rerun that reuses results: what happens to the cells of each step, in the order of the file'),
  reusedMs: z
    .number()
    .min(0)
    .exactOptional()
    .describe('the sum of `reusedMs` of the steps: an estimate of the work that is saved, not of the time'),
  plannedAt: z.array(time).exactOptional().describe('of a backfill: the planned times that are run'),
});
