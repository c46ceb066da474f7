import { z } from 'zod';
import { failureSchemas, runStatusSchema, statusSchemas } from './status-schemas.ts';
import { timeSchema } from './time-schema.ts';

const count = z.int().min(0);

/** The values depend on `kind`. */
const wait = z.strictObject({
  kind: z.enum([
    'dependency',
    'finally',
    'decision',
    'lookUp',
    'approval',
    'parallelism',
    'stepParallelism',
    'pool',
    'limit',
    'backoff',
    'postponed',
    'turn',
  ]),
  message: z.string(),
  startedAt: timeSchema.describe('when the wait began'),
  advice: z.string().exactOptional().describe('what the user can do'),
  steps: z.array(z.string()).readonly().exactOptional().describe('of `dependency`'),
  open: count.exactOptional().describe('of `finally`: steps that have not ended'),
  pool: z.string().exactOptional(),
  limit: z.string().exactOptional(),
  used: z.number().exactOptional(),
  size: z.number().exactOptional(),
  needed: z.number().exactOptional(),
  attempt: count.exactOptional().describe('of `backoff`'),
  cause: z.string().exactOptional().describe('of `postponed`: what is missing'),
  dueAt: timeSchema.exactOptional().describe('of `backoff` and `postponed`: the latest time of the next try'),
});

const attempt = z.strictObject({
  attempt: z.int().min(1),
  status: statusSchemas.status.extract(['submitting', 'pending', 'running', 'succeeded', 'failed', 'canceled']),
  reason: statusSchemas.reason,
  containerId: z.string().exactOptional(),
  clusterId: z.string().exactOptional(),
  instanceType: z.string().exactOptional(),
  requestedAt: timeSchema.exactOptional(),
  submittedAt: timeSchema.exactOptional(),
  runningAt: timeSchema.exactOptional(),
  endedAt: timeSchema.exactOptional(),
  publishedAt: timeSchema.exactOptional(),
  postponed: z.strictObject({ times: z.int().min(1), cause: z.string() }).exactOptional(),
  failure: z.strictObject(failureSchemas).exactOptional(),
  retry: z.string().exactOptional().describe('whether another attempt followed, and by which rule'),
});

const difference = z.strictObject({
  name: z.string().describe('of the component, for example `command` or `inputs.data`'),
  before: z.string().exactOptional(),
  after: z.string().exactOptional(),
  from: z.string().exactOptional().describe('the step that produces the input'),
});

/** The values depend on `kind`. */
const cache = z
  .strictObject({
    kind: z.enum(['off', 'unasked', 'hit', 'missed']),
    fingerprint: z.string().exactOptional(),
    runId: z.string().exactOptional().describe('of `hit`: the run whose outputs are reused, with `step` and `cell`'),
    step: z.string().exactOptional(),
    cell: z.string().exactOptional(),
    cause: z
      .enum(['unknown', 'expired', 'dataGone', 'dataChanged', 'rerun', 'writesShared', 'readsShared', 'secret'])
      .exactOptional()
      .describe('of `missed`'),
    after: z.string().exactOptional().describe('of `rerun`: the step before it that was executed in this run'),
    nearest: z
      .strictObject({ runId: z.string(), differences: z.array(difference).readonly() })
      .exactOptional()
      .describe('of `missed`: the newest success of this cell, and how it differs'),
    problem: z.string().exactOptional().describe('of `missed`: why it cannot be compared'),
  })
  .describe('the lookup of an earlier result');

const move = z.strictObject({
  at: timeSchema,
  previousStatus: statusSchemas.status.exactOptional(),
  status: statusSchemas.status.exactOptional().describe('present if the cell has moved'),
  reused: statusSchemas.reused,
  reason: statusSchemas.reason,
  cause: z.string().exactOptional().describe('what moved the cell'),
  attempt: count.describe('0 if it belongs to no attempt'),
  message: z.string().exactOptional(),
});

/** What `sluice why` prints. */
export const explanationValue = z
  .strictObject({
    runId: z.string(),
    pipeline: z.string(),
    runStatus: runStatusSchema,
    step: z.string(),
    cell: z.string().describe('the explained cell; empty for a plain step'),
    item: z.unknown().exactOptional().describe('of a cell of `foreach`'),
    ...statusSchemas,
    cells: z
      .array(z.strictObject({ ...statusSchemas, count: z.int().min(1) }))
      .readonly()
      .describe('the cells of the step by status'),
    message: z.string().exactOptional().describe('why it waits, was skipped or has failed'),
    wait: wait.exactOptional(),
    pipefail: z.literal(true).exactOptional().describe('the command runs in a shell with `pipefail` if there is one'),
    dependencies: z
      .array(
        z.strictObject({
          step: z.string(),
          condition: z.enum(['succeeded', 'failed', 'completed', 'skipped', 'running']),
          ...statusSchemas,
        }),
      )
      .readonly(),
    attempts: z.array(attempt).readonly(),
    image: z.strictObject({ image: z.string(), digest: z.string().exactOptional() }).exactOptional(),
    cache,
    warnings: z
      .array(z.strictObject({ at: timeSchema, message: z.string(), concerns: z.literal('service').exactOptional() }))
      .readonly()
      .exactOptional()
      .describe('of the run, about replies of the service'),
    story: z.array(move).readonly().describe('everything that happened to the cell, oldest first'),
    service: z
      .strictObject({ phase: z.string(), message: z.string(), problem: z.string().exactOptional() })
      .exactOptional()
      .describe('the container as the service reports it; `problem`: why it could not be read'),
  })
  .describe('Why a step or a cell has its status.');
