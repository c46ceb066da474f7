import { z } from 'zod';
import { cell } from './cell.ts';
import { failure } from './failure.ts';
import type { InMilliseconds } from './in-milliseconds.ts';
import { runReport } from './run-report.ts';
import { status } from './status.ts';
import { warning } from './warning.ts';
import { cellName, count, time } from './words.ts';

const head = {
  runId: z.string(),
  seq: z.int().min(1).describe('1 for the first event of a process; grows by 1 with each event'),
  at: time,
};
const step = z.string();
const cells = z.array(z.string()).readonly();
const message = z.string();

/** What has happened to a run, by the value of `type`. */
export const runnerEvents = {
  runStarted: z
    .strictObject({
      ...head,
      pipeline: z.string(),
      resumed: z.boolean(),
      steps: z
        .array(z.strictObject({ step, cells: cells.exactOptional() }))
        .readonly()
        .describe('in the order of the plan; `cells` is absent if the list of a `foreach` step is not known yet'),
    })
    .describe('The process executes the run from now on.'),
  stepExpanded: z
    .strictObject({
      ...{ ...head, step },
      replaced: z.string().exactOptional().describe('the cell that stood for the items of a listed axis until now'),
      cells,
    })
    .describe('The cells of a `foreach` step are known, or those of a listed axis for one list.'),
  cellChanged: z
    .strictObject({
      ...head,
      step,
      cell: cellName,
      axes: cell.axes,
      ...status,
      reusedFrom: cell.reusedFrom,
      attempt: count.describe('0 before the first attempt'),
      containerId: z.string().exactOptional(),
      message: cell.message,
      ports: cell.ports,
    })
    .describe('The status of a cell has changed. On resume, printed once for each cell that is not `waiting`.'),
  containerState: z
    .strictObject({
      ...head,
      step,
      cell: cellName,
      phase: z.string().describe('as the service reports it'),
      message,
    })
    .describe(
      'The message of the service about a container that is not running yet, or the address of a port of one that runs.',
    ),
  attemptFailed: z
    .strictObject({ ...head, ...failure.shape })
    .describe('An attempt has failed or was canceled, and its log has been read.'),
  transfer: z
    .strictObject({
      ...head,
      direction: z.enum(['upload', 'download', 'across']).describe('`across`: from one cluster to another'),
      name: z.string().describe('of the volume or of the output'),
      files: count,
      totalFiles: count,
      bytes: count,
      totalBytes: count,
      done: z.boolean(),
    })
    .describe('The progress of a copy.'),
  approvalAsked: z
    .strictObject({ ...head, step, cell: z.string().exactOptional(), message })
    .describe('A step, or a cell of a step with `each`, waits for approval.'),
  warning: z
    .strictObject({ ...head, message, concerns: warning.shape.concerns })
    .describe('A problem that does not stop the run.'),
  runSuspended: z
    .strictObject({ ...head, message: z.string().describe('why') })
    .describe('The process has left the run, which can be resumed.'),
  runFinished: z
    .strictObject({ ...head, report: runReport.describe('as `show` prints it') })
    .describe('The run has ended.'),
};

type EventOf<T> = T extends keyof typeof runnerEvents
  ? { readonly type: T } & InMilliseconds<z.infer<(typeof runnerEvents)[T]>>
  : never;

/** What has happened to a run. Plain JSON data, printed by `--json` as lines of JSON. */
export type RunnerEvent = EventOf<keyof typeof runnerEvents>;

type WithoutNumber<T> = T extends unknown ? Omit<T, 'runId' | 'seq'> : never;

/** An event before it gets the ID of its run and its number. */
export type UnnumberedEvent = WithoutNumber<RunnerEvent>;

/** Receives all events of a run. `report` must not throw and should return quickly. */
export interface Reporter {
  report(event: RunnerEvent): void;
}
