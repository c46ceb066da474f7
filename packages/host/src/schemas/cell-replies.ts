import { z } from 'zod';
import { cellStatus, failureReason, json, position, time } from './words.ts';

/** What every reply about a cell begins with. */
const cellHead = {
  step: z.string(),
  cell: z.string().describe('empty for a plain step'),
  stepIndex: z.int().min(0),
  cellIndex: z.int().min(0),
  item: json.exactOptional().describe('of a cell of `foreach`'),
  status: cellStatus,
  reused: z.literal(true).exactOptional(),
  reusedFrom: z.string().exactOptional().describe('the ID of the run whose outputs are reused'),
  reason: failureReason.exactOptional(),
  attempt: z.int().min(0).describe('the number of attempts so far'),
  message: z.string().exactOptional().describe('why it waits, was skipped or has failed'),
  ports: z
    .record(z.string(), z.strictObject({ url: z.string() }))
    .exactOptional()
    .describe('the exposed ports of a cell that runs, by name'),
};

/** An entry in the list of cells. */
export const cellEntry = z.strictObject({
  ...cellHead,
  containerId: z.string().exactOptional(),
  clusterId: z.string().exactOptional(),
  submittedAt: time.exactOptional(),
  runningAt: time.exactOptional(),
  endedAt: time.exactOptional(),
  matrix: z.record(z.string(), json).exactOptional().describe('by axis; with `values`'),
  results: z.record(z.string(), json).exactOptional().describe('with `values`'),
});

/** The reply of `GET /runs/{runId}/cells`. */
export const cellList = z.strictObject({
  cells: z.array(cellEntry),
  total: z.int().min(0).describe('the number of matching cells on all pages'),
  nextPageToken: z.string().exactOptional(),
  position,
});

/** The reply of `GET /runs/{runId}/cell-names`. */
export const cellNames = z.strictObject({
  names: z.array(z.string()).describe('empty for a plain step'),
  total: z.int().min(0).describe('the number of cells of the step'),
});

/** The reply of `GET /runs/{runId}/cell-matches`. */
export const cellMatches = z.strictObject({
  steps: z.array(
    z.strictObject({
      step: z.string(),
      stepIndex: z.int().min(0),
      total: z.int().min(1).describe('the number of its matching cells'),
      cells: z.array(z.strictObject({ cell: z.string(), cellIndex: z.int().min(0) })).describe('the first ones'),
    }),
  ),
  total: z.int().min(0).describe('the number of all matching cells'),
});

const hours = z.number().min(0);

const attempt = z.strictObject({
  attempt: z.int().min(1),
  result: z.enum(['open', 'succeeded', 'failed', 'canceled']),
  containerId: z.string().exactOptional(),
  clusterId: z.string().exactOptional(),
  instanceType: z.string().exactOptional(),
  requestedAt: time.exactOptional(),
  submittedAt: time.exactOptional(),
  runningAt: time.exactOptional(),
  endedAt: time.exactOptional(),
  publishedAt: time.exactOptional(),
  instance: z
    .strictObject({
      cpu: z.number().min(0).describe('cores'),
      memoryGB: z.number().min(0),
      gpu: z.number().min(0).exactOptional(),
      gpuModel: z.string().exactOptional(),
    })
    .exactOptional()
    .describe('what its instance type had when the run began; absent if that was not recorded'),
  queuedMs: z.number().min(0).exactOptional().describe('from the submission to the start'),
  ranMs: z.number().min(0).exactOptional().describe('absent until it has ended, and if it never ran'),
  coreHours: hours.exactOptional().describe('cores of the instance type × time that it ran'),
  gpuHours: hours.exactOptional().describe('GPUs of the instance type × time that it ran'),
  postponed: z.strictObject({ times: z.int().min(1), reason: z.string() }).exactOptional(),
  reason: failureReason.exactOptional(),
  exitCode: z.int().exactOptional(),
  message: z.string().exactOptional(),
  retry: z.string().exactOptional().describe('whether another attempt followed, and which rule decided this'),
  logTail: z.array(z.string()).exactOptional(),
});

const port = z.strictObject({
  name: z.string(),
  path: z.string().exactOptional().describe('mount point in the container'),
  from: z.string().exactOptional().describe('of an input: `STEP.OUTPUT` or the name of a volume'),
  place: z
    .strictObject({ clusterId: z.string(), accountId: z.string(), volumeId: z.string(), path: z.string() })
    .exactOptional()
    .describe('absent until the data exist'),
});

/** The reply of `GET /runs/{runId}/cell`. */
export const cellDetails = z.strictObject({
  ...cellHead,
  attempts: z.array(attempt),
  resources: z
    .strictObject({
      cpu: z.number().exactOptional().describe('cores'),
      memoryBytes: z.number().exactOptional(),
      gpu: z.number().exactOptional(),
      gpuModel: z.string().exactOptional(),
    })
    .exactOptional()
    .describe('the least that the pipeline requests for the first attempt'),
  usage: z
    .strictObject({
      attempts: z.int().min(0).describe('the number of attempts that have run and ended'),
      ranMs: z.number().min(0),
      coreHours: hours.exactOptional().describe('absent if it is unknown for an attempt'),
      gpuHours: hours.exactOptional().describe('absent if it is unknown for an attempt'),
    })
    .describe('the sum of the attempts that have run and ended'),
  wait: z
    .strictObject({ kind: z.string(), message: z.string(), since: time, advice: z.string().exactOptional() })
    .exactOptional(),
  dependencies: z.array(
    z.strictObject({
      step: z.string(),
      condition: z.enum(['succeeded', 'failed', 'completed', 'skipped', 'running']),
      status: cellStatus,
    }),
  ),
  cache: z.strictObject({
    kind: z.enum(['off', 'unasked', 'hit', 'missed']),
    reason: z.string().exactOptional().describe('why no earlier result was reused'),
    runId: z.string().exactOptional().describe('the run with the reused or most similar result'),
    differences: z.array(z.string()).exactOptional().describe('how the most similar result differs'),
  }),
  history: z.array(z.strictObject({ at: time, message: z.string() })).describe('oldest first'),
  results: z.record(z.string(), json),
  image: z.string().exactOptional().describe('with its expressions evaluated as far as possible'),
  command: z.array(z.string()).exactOptional().describe('with its expressions evaluated as far as possible'),
  environment: z.array(z.string()).describe('names of variables, without secrets'),
  inputs: z.array(port),
  outputs: z.array(port),
  position,
});

/** The reply of `GET /runs/{runId}/log-line`. */
export const logLine = z.strictObject({ line: z.int().min(1).describe('from 1') });

/** The reply of `GET /runs/{runId}/files` for a directory. */
export const fileList = z.strictObject({
  path: z.string().describe('relative to the input or output'),
  entries: z.array(
    z.strictObject({
      name: z.string(),
      kind: z.enum(['file', 'directory', 'other']),
      bytes: z.int().min(0).exactOptional().describe('of a file'),
      modifiedAt: time.exactOptional(),
    }),
  ),
});

/** One side of a difference. */
const fileSide = z.strictObject({
  bytes: z.int().min(0).exactOptional(),
  sha256: z.string().exactOptional(),
  link: z.string().exactOptional().describe('the target of a symlink'),
});

/** The reply of `GET /runs/{runId}/differences`. */
export const fileDifferences = z.strictObject({
  differences: z
    .array(
      z.strictObject({
        path: z.string().describe('relative to the input or output'),
        kind: z
          .enum(['added', 'removed', 'changed', 'unknown'])
          .describe('`added`: the other run does not have it; `unknown`: too large to be compared'),
        here: fileSide.exactOptional(),
        there: fileSide.exactOptional(),
      }),
    )
    .describe('in order of paths, the first 10,000'),
  otherCell: z.int().min(0).describe('index of the other cell'),
  total: z.int().min(0).describe('the number of all differences'),
  same: z.int().min(0).describe('the number of equal files'),
});
