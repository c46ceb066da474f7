import { NEED_CONDITIONS } from '@sluice/core';
import { z } from 'zod';
import { CAUSES } from '../scheduler/model/legal-moves.ts';
import { explainedAttempt } from './attempt.ts';
import { cellValues } from './cell.ts';
import { image } from './image.ts';
import type { InMilliseconds } from './in-milliseconds.ts';
import { MISS_REASONS } from './miss-reasons.ts';
import { openApproval } from './open-approval.ts';
import { status } from './status.ts';
import { warning } from './warning.ts';
import { cellName, cellStatus, count, runPhase, time } from './words.ts';

/** The values depend on `kind`. */
const wait = z.strictObject({
  kind: z.enum([
    'dependency',
    'finally',
    'decision',
    'lookUp',
    'approval',
    'parallelism',
    'items',
    'stepParallelism',
    'pool',
    'limit',
    'backoff',
    'postponed',
    'queued',
  ]),
  message: z.string(),
  startedAt: time.describe('when the wait began'),
  advice: z.string().exactOptional().describe('what the user can do; absent if there is nothing to do but wait'),
  steps: z.array(z.string()).readonly().exactOptional().describe('of `dependency`'),
  open: count.exactOptional().describe('of `finally`: steps that have not ended'),
  axis: z.string().exactOptional().describe('of `items`'),
  pool: z.string().exactOptional(),
  limit: z.string().exactOptional(),
  used: z.number().exactOptional(),
  size: z.number().exactOptional(),
  needed: z.number().exactOptional(),
  attempt: count.exactOptional().describe('of `backoff`'),
  cause: z.string().exactOptional().describe('of `postponed`: what is missing'),
  dueAt: time.exactOptional().describe('of `backoff` and `postponed`: the latest time of the next try'),
});

/** Why a cell waits, and what the user can do. */
export interface WaitExplanation extends InMilliseconds<z.infer<typeof wait>> {}

const dependency = z.strictObject({
  step: z.string(),
  cell: z.string().exactOptional().describe('the cell that is meant, if it is one'),
  cellCount: count.exactOptional().describe('the number of cells that are meant, if they are a part of the step'),
  input: z.string().exactOptional().describe('the input with rules of its own that reads it'),
  condition: z.enum(NEED_CONDITIONS),
  ...status,
});

/** A dependency, the condition for it to be satisfied, and its status. */
export interface DependencyExplanation extends InMilliseconds<z.infer<typeof dependency>> {}

const upstream = dependency.omit({ condition: true, input: true });

/** A cell that another one comes from, or some cells of a step together, with their present status. */
export interface UpstreamExplanation extends InMilliseconds<z.infer<typeof upstream>> {}

const difference = z.strictObject({
  name: z.string().describe('of the component, for example `command` or `inputs.data`'),
  before: z.string().exactOptional(),
  after: z.string().exactOptional(),
  from: z.string().exactOptional().describe('the step that produces the input'),
});

/** A component of the fingerprint that differs from that of the earlier success. */
export interface InputDifference extends InMilliseconds<z.infer<typeof difference>> {}

const cache = z
  .discriminatedUnion('kind', [
    z.strictObject({
      kind: z
        .enum(['off', 'noLookup'])
        .describe('`off`: the step has no `cache`; `noLookup`: there was no lookup, or not yet'),
    }),
    z
      .strictObject({
        kind: z.literal('hit'),
        fingerprint: z.string(),
        runId: z.string(),
        step: z.string(),
        cell: cellName,
      })
      .describe('the run, step and cell whose outputs are reused'),
    z.strictObject({
      kind: z.literal('missed'),
      fingerprint: z.string(),
      cause: z.enum(MISS_REASONS),
      after: z
        .string()
        .exactOptional()
        .describe('of `rerun`: the step before it that was executed in this run, if that is the reason'),
      nearest: z
        .strictObject({ runId: z.string(), differences: z.array(difference).readonly() })
        .exactOptional()
        .describe('the newest success of this cell, and how it differs; absent if there is none'),
      problem: z.string().exactOptional().describe('why it cannot be compared'),
    }),
  ])
  .describe('the lookup of an earlier result');

/** The result of the lookup of an earlier result. */
export type CacheExplanation = InMilliseconds<z.infer<typeof cache>>;

const historyLine = z.strictObject({
  at: time,
  previousStatus: cellStatus.exactOptional(),
  status: cellStatus.exactOptional().describe('present if the cell has moved'),
  reused: status.reused,
  reason: status.reason,
  cause: z.enum(CAUSES).exactOptional().describe('what moved the cell'),
  attempt: count.describe('0 if it belongs to no attempt'),
  message: z.string().exactOptional(),
});

/** One event in the history of a cell. */
export interface HistoryLine extends InMilliseconds<z.infer<typeof historyLine>> {}

/** What explains the status of a cell, apart from the status itself. */
export const cellExplanation = {
  wait: wait.exactOptional(),
  dependencies: z.array(dependency).readonly(),
  upstream: z
    .array(upstream)
    .readonly()
    .exactOptional()
    .describe(
      'of a step with `each`: what the cell comes from, directly or through others, first what is read by others',
    ),
  rootCause: z
    .strictObject({
      step: z.string(),
      cell: cellName,
      ...status,
      message: z.string().exactOptional().describe('why it waits, was skipped or has failed'),
    })
    .exactOptional()
    .describe('of a step with `each`: the other cell because of which this one was skipped or waits'),
  attempts: z.array(z.strictObject(explainedAttempt)).readonly(),
  cache,
  history: z.array(historyLine).readonly().describe('everything that happened to the cell, oldest first'),
};

/** What explains the status of a cell, apart from the status itself. Times are in milliseconds since the Unix epoch. */
export interface CellExplanation extends InMilliseconds<z.infer<z.ZodObject<typeof cellExplanation>>> {}

/** Everything in the journal of a run that explains the status of a step. */
export const stepExplanation = z.strictObject({
  runId: z.string(),
  pipeline: z.string(),
  runStatus: runPhase,
  step: z.string(),
  cell: cellName.describe('the explained cell; empty for a plain step'),
  ...cellValues,
  ...status,
  cells: z
    .array(z.strictObject({ ...status, count: z.int().min(1) }))
    .readonly()
    .describe('the cells of the step by status'),
  message: z.string().exactOptional().describe('why it waits, was skipped or has failed'),
  pipefail: z.literal(true).exactOptional().describe('the command runs in a shell with `pipefail` if there is one'),
  image: image.omit({ steps: true }).exactOptional(),
  warnings: z
    .array(warning)
    .readonly()
    .exactOptional()
    .describe('of the run, about replies of the service; only for a cell that has requested a container'),
  approval: openApproval.exactOptional().describe('of a cell that waits for approval'),
  ...cellExplanation,
});

/** Everything in the journal of a run that explains the status of a step. Times are in milliseconds since the Unix epoch. */
export interface StepExplanation extends InMilliseconds<z.infer<typeof stepExplanation>> {}
