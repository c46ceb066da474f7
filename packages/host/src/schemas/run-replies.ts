import { z } from 'zod';
import {
  cellStatus,
  counts,
  EXECUTOR_WORDS,
  EXECUTORS,
  failureReason,
  json,
  position,
  runStatus,
  states,
  time,
} from './words.ts';

/** An entry in the list of runs. */
export const runEntry = z.strictObject({
  runId: z.string(),
  pipeline: z.string(),
  labels: z.record(z.string(), z.string()).exactOptional().describe('those of the pipeline'),
  status: runStatus,
  executor: z.enum(EXECUTORS).describe(EXECUTOR_WORDS),
  startedAt: time,
  endedAt: time.exactOptional(),
  counts: counts
    .exactOptional()
    .describe('absent for a run that has ended elsewhere, or whose files could not be read'),
  waitsForApproval: z.literal(true).exactOptional(),
  message: z.string().exactOptional().describe('why the files of the run could not be read'),
});

/** The reply of `GET /runs`. */
export const runList = z.strictObject({ runs: z.array(runEntry), nextPageToken: z.string().exactOptional() });

const failure = z.strictObject({
  step: z.string(),
  cell: z.string(),
  item: json.exactOptional(),
  attempt: z.int().min(1),
  reason: z.union([failureReason, z.literal('canceled')]),
  exitCode: z.int().exactOptional(),
  message: z.string(),
  containerId: z.string().exactOptional(),
  hint: z.string().exactOptional(),
  logTail: z.array(z.string()),
});

/** Where an output of one cell is. */
const place = z.strictObject({
  cell: z.string(),
  clusterId: z.string(),
  accountId: z.string(),
  volumeId: z.string(),
  path: z.string(),
});

const output = z.strictObject({
  step: z.string(),
  output: z.string(),
  places: z.array(place),
  path: z.string().exactOptional().describe('in the output; absent: all of it'),
  publishedTo: z.string().exactOptional(),
  notPublished: z.string().exactOptional(),
});

const planStep = z.strictObject({
  name: z.string(),
  description: z.string().exactOptional(),
  kind: z.enum(['container', 'service', 'approval']),
  dependencies: z.array(z.int()).describe('indexes of steps'),
  level: z.int().min(0).describe('column in the graph: the distance from the start'),
  final: z.boolean().describe('a step of `finally`'),
  cells: z.int().min(0).nullable().describe('null while the cells of a `foreach` are unknown'),
  image: z.string().exactOptional().describe('with its expressions evaluated as far as possible; the first of several'),
  instanceType: z.string().exactOptional(),
  resources: z.record(z.string(), z.union([z.number(), z.string()])).exactOptional(),
});

/** The reply of `GET /runs/{runId}`. */
export const runDetails = z.strictObject({
  runId: z.string(),
  pipeline: z.string(),
  description: z.string().exactOptional(),
  status: runStatus,
  message: z.string().exactOptional(),
  startedAt: time,
  endedAt: time.exactOptional(),
  clusterId: z.string(),
  accountId: z.string(),
  labels: z.record(z.string(), z.string()),
  params: z.record(z.string(), json),
  results: z.record(z.string(), json).exactOptional(),
  outputs: z.record(z.string(), output),
  warnings: z.array(z.strictObject({ at: time, message: z.string() })),
  failures: z.array(failure).describe('the first 100 in the order in which they ended'),
  failureCount: z.int().min(0),
  command: z.string().exactOptional().describe('a command line that starts the same run again'),
  plan: z.strictObject({ steps: z.array(planStep) }),
  steps: z
    .array(z.strictObject({ status: cellStatus, reused: z.literal(true).exactOptional(), counts }))
    .describe('in the order of `plan.steps`'),
  criticalPath: z.array(
    z.strictObject({
      step: z.string(),
      cell: z.string(),
      from: time.describe('when it could have started'),
      to: time.describe('when it ended'),
      waitedMs: z.number().min(0).describe('of this, without a running container'),
    }),
  ),
  position,
});

/** The reply of `GET /runs/{runId}/states`. */
export const runStates = z.strictObject({ position, states });

/** One change of a cell's status. An array, since a run may have millions of them. */
export const move = z.tuple([
  position,
  z.int().describe('when, in milliseconds since the Unix epoch'),
  z.int().min(0).describe('index of the step in `plan.steps`'),
  z.int().min(0).describe('index of the cell in its step'),
  cellStatus,
  z.int().min(0).describe('attempt; 0 before the first'),
  z.boolean().describe('an earlier result is reused'),
]);

/** The reply of `GET /runs/{runId}/moves`. */
export const runMoves = z.strictObject({
  position,
  skip: z
    .int()
    .min(1)
    .exactOptional()
    .describe('present if the next position has more moves than `limit`: how many of them have been returned'),
  moves: z.array(move),
  more: z
    .boolean()
    .describe('whether there are later moves; ask again with `after` set to `position`, and with `skip`'),
});
