import {
  cellStatus,
  counts,
  criticalCell,
  failure,
  failureGroup,
  json,
  openApproval,
  output,
  runEntry,
  runOutline,
  skippedStep,
  status,
  time,
  timeSpent,
  warning,
} from '@sluice/run';
import { z } from 'zod';
import { position, states } from './states.ts';

/** The reply of `GET /runs`. */
export const runList = z.strictObject({ runs: z.array(runEntry), nextPageToken: z.string().exactOptional() });

/** A failed or canceled attempt, without a path of the machine that executes the run. */
export const failureWithoutPath = failure.omit({ logFile: true });

const planStep = z.strictObject({
  step: z.string(),
  description: z.string().exactOptional(),
  kind: z.enum(['container', 'service', 'approval']),
  dependencies: z.array(z.int()).describe('indexes of steps'),
  each: z.array(z.string()).exactOptional().describe('its axes; absent if it has none'),
  level: z.int().min(0).describe('column in the graph: the distance from the start'),
  final: z.boolean().describe('a step of `finally`'),
  group: z
    .string()
    .exactOptional()
    .describe('the step with `uses` that has added it; absent if it is in the main file'),
  cells: z.int().min(0).nullable().describe('null while the cells of a `foreach` are unknown'),
  image: z.string().exactOptional().describe('with its expressions evaluated as far as possible; the first of several'),
  instanceType: z.string().exactOptional(),
  resources: z.record(z.string(), z.union([z.number(), z.string()])).exactOptional(),
});

/** The reply of `GET /runs/{runId}`. */
export const runDetails = z.strictObject({
  ...runOutline,
  description: z.string().exactOptional(),
  message: z.string().exactOptional(),
  clusterId: z.string(),
  accountId: z.string(),
  labels: z.record(z.string(), z.string()),
  params: z.record(z.string(), json),
  results: z.record(z.string(), json).exactOptional(),
  outputs: z.record(z.string(), output),
  warnings: z.array(warning),
  failures: z
    .array(failureWithoutPath)
    .describe('the first 100 failed and canceled attempts in the order in which they ended, also those tried again'),
  failureCount: z.int().min(0),
  failureGroups: z
    .array(failureGroup)
    .describe('why cells have failed in the end, of the 10,000 that failed last; the first 20'),
  failureGroupCount: z.int().min(0),
  failedCellCount: z.int().min(0),
  skippedSteps: z.array(skippedStep).describe('what was skipped because of these failures; the first 100'),
  command: z.string().exactOptional().describe('a command line that starts the same run again'),
  plan: z.strictObject({ steps: z.array(planStep) }),
  steps: z
    .array(
      z.strictObject({
        ...status,
        counts,
        beganAt: time.exactOptional().describe('when its first cell began to run'),
        endedAt: time.exactOptional().describe('when its last cell ended; absent while one runs'),
      }),
    )
    .describe('in the order of `plan.steps`'),
  criticalPath: z.array(criticalCell),
  timeSpent: timeSpent.exactOptional().describe('absent before its first step could start'),
  resumes: z
    .array(
      z.strictObject({
        at: time,
        lastRecordAt: time.describe('of the journal: no process may have executed the run since then'),
      }),
    )
    .describe('the last 100 times that a process has continued the run, oldest first'),
  position,
});

/** The reply of `GET /runs/{runId}/approvals`. */
export const approvalList = z.strictObject({
  approvals: z.array(openApproval).describe('in the order of the file; at most 100'),
});

/** The reply of `GET /runs/{runId}/states`. */
export const runStates = z.strictObject({ position, states });

/** One change of a cell's status. An array, since a run may have millions of them. */
export const cellChange = z.tuple([
  position,
  z.int().describe('when, in milliseconds since the Unix epoch'),
  z.int().min(0).describe('index of the step in `plan.steps`'),
  z.int().min(0).describe('index of the cell in its step'),
  cellStatus,
  z.int().min(0).describe('attempt; 0 before the first'),
  z.boolean().describe('an earlier result is reused'),
]);

/** The reply of `GET /runs/{runId}/changes`. */
export const changeList = z.strictObject({
  position: position.describe('this page and those before have all changes up to this position'),
  changes: z.array(cellChange),
  nextPageToken: z.string().exactOptional(),
});
