import {
  cell,
  cellExplanation,
  cellStatus,
  comparedStep,
  counts,
  explainedAttempt,
  location,
  milliseconds,
  time,
} from '@sluice/run';
import { z } from 'zod';
import { failureWithoutPath } from './run-replies.ts';
import { position } from './states.ts';

/** A cell, and where it is in the plan. */
const placedCell = {
  step: z.string(),
  ...cell,
  stepIndex: z.int().min(0),
  cellIndex: z.int().min(0),
};

/** An entry in the list of cells. */
export const cellEntry = z.strictObject({
  ...placedCell,
  results: cell.results.exactOptional().describe('with `values`'),
});

/** The reply of `GET /runs/{runId}/cells`. */
export const cellList = z.strictObject({
  cells: z.array(cellEntry),
  total: z.int().min(0).describe('the number of matching cells on all pages'),
  nextPageToken: z.string().exactOptional(),
  position,
});

const gridEntry = z.strictObject({
  status: cellStatus.describe('of several cells, the one that stands for them: `failed` if one has failed'),
  reused: z.literal(true).exactOptional().describe('an earlier result is reused'),
  cellIndex: z.int().min(0).describe('of the first cell'),
  cellCount: z.int().min(1),
  counts: counts.exactOptional().describe('of several cells'),
});

/** The reply of `GET /runs/{runId}/grid`. */
export const gridPage = z.strictObject({
  axes: z.array(z.string()).describe('whose combinations of items are the rows; empty if no step has `each`'),
  choices: z.array(z.array(z.string())).describe('the axes that the rows can have, first those that most steps have'),
  columns: z
    .array(z.strictObject({ step: z.string(), stepIndex: z.int().min(0), counts }))
    .describe('the steps whose cells have these axes'),
  rows: z.array(
    z.strictObject({
      row: z.string().describe('the keys of the items, joined by commas'),
      entries: z
        .array(gridEntry.nullable())
        .describe('in the order of `columns`; null: the step has no cell in the row'),
    }),
  ),
  total: z.int().min(0).describe('the number of matching rows on all pages'),
  rowCount: z.int().min(0).describe('the number of all rows'),
  failedCount: z.int().min(0).describe('the number of rows with a failed cell'),
  nextPageToken: z.string().exactOptional(),
  position,
});

/** The reply of `GET /runs/{runId}/cell-names`. */
export const cellNames = z.strictObject({
  names: z.array(z.string()).describe('empty for a plain step'),
  total: z.int().min(0).describe('the number of cells of the step'),
  nextPageToken: z.string().exactOptional(),
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
  nextPageToken: z.string().exactOptional(),
});

const hours = z.number().min(0);

const attempt = z.strictObject({
  ...explainedAttempt,
  failure: failureWithoutPath.exactOptional(),
  instance: z
    .strictObject({
      cpu: z.number().min(0).describe('cores'),
      memoryGB: z.number().min(0),
      gpu: z.number().min(0).exactOptional(),
      gpuModel: z.string().exactOptional(),
    })
    .exactOptional()
    .describe('what its instance type had when the run began; absent if that was not recorded'),
  queuedMs: milliseconds.exactOptional().describe('from the submission to the start'),
  ranMs: milliseconds.exactOptional().describe('absent until it has ended, and if it never ran'),
  coreHours: hours.exactOptional().describe('cores of the instance type × time that it ran'),
  gpuHours: hours.exactOptional().describe('GPUs of the instance type × time that it ran'),
});

const port = z.strictObject({
  name: z.string(),
  path: z.string().exactOptional().describe('mount point in the container'),
  from: z.string().exactOptional().describe('of an input: `STEP.OUTPUT` or the name of a volume'),
  location: z.strictObject(location).exactOptional().describe('absent until the data exist'),
  removed: z.literal(true).exactOptional().describe('the data were temporary, and no cell needed them any more'),
});

/** The reply of `GET /runs/{runId}/cell`. */
export const cellDetails = z.strictObject({
  ...placedCell,
  ...cellExplanation,
  attempts: z.array(attempt),
  timeoutMs: z.int().exactOptional().describe('the limit of one attempt'),
  queueTimeoutMs: z.int().exactOptional().describe('the limit for the wait of one attempt'),
  deadlineMs: z.int().exactOptional().describe('the limit of all attempts together'),
  priority: z.int().describe('higher ones start first'),
  resources: z
    .strictObject({
      cpu: z.number().exactOptional().describe('cores'),
      memoryBytes: z.number().exactOptional(),
      gpu: z.number().exactOptional(),
      gpuModel: z.string().exactOptional(),
      timeMs: z.int().exactOptional().describe('the time that an attempt needs at most'),
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
  entries: z
    .array(
      z.strictObject({
        name: z.string(),
        kind: z.enum(['file', 'directory', 'other']),
        bytes: z.int().min(0).exactOptional().describe('of a file'),
        modifiedAt: time.exactOptional(),
      }),
    )
    .describe('by name'),
  nextPageToken: z.string().exactOptional(),
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
  otherCellIndex: z.int().min(0).describe('of the other cell'),
  total: z.int().min(0).describe('the number of all differences'),
  same: z.int().min(0).describe('the number of equal files'),
});

/** The reply of `GET /runs/{runId}/step-differences`. */
export const stepDifferences = z.strictObject({
  steps: z.array(comparedStep).describe('those of the run in their order, then those that only the other run has'),
  total: z.int().min(0).describe('the number of all steps of both runs; the first 300 are compared'),
});
