import {
  cellName,
  detailedReport,
  failure,
  fileHistory,
  runPhase,
  runReport,
  stepDifference,
  stepExplanation,
} from '@sluice/run';
import { z } from 'zod';

/** The values that report a run, by the value of `type`. */
export const REPORT_VALUES = {
  runReport: runReport.describe('A run, as `show` prints it.'),
  report: detailedReport.describe('A run with all its attempts: the content of `report.json`.'),
  reportFiles: z
    .strictObject({
      runId: z.string(),
      page: z.string(),
      attempts: z.string(),
      data: z.string(),
      junit: z.string().exactOptional().describe('with `--junit`'),
    })
    .describe('The paths of the files that `report` has written.'),
  explanation: stepExplanation
    .extend({
      service: z
        .strictObject({ phase: z.string(), message: z.string(), problem: z.string().exactOptional() })
        .exactOptional()
        .describe('the container as the service reports it; `problem`: why it could not be read'),
    })
    .describe('Why a step or a cell has its status.'),
  difference: stepDifference.describe('Why a step or a cell differs from that of another run.'),
  fileHistory: fileHistory.describe('Who wrote the bytes of a file, and who has used them, as `history` prints it.'),
  notification: z
    .strictObject({
      text: z.string().describe('a sentence about the end of the run'),
      runId: z.string(),
      pipeline: z.string(),
      status: runPhase.extract(['succeeded', 'failed', 'canceled']),
      message: z.string().exactOptional(),
      failures: z
        .array(
          z.strictObject({
            step: failure.shape.step,
            cell: cellName,
            cellCount: z.int().min(1).describe('of the step that failed for the same reason'),
            attempt: failure.shape.attempt,
            status: failure.shape.status,
            reason: failure.shape.reason,
            message: z.string(),
          }),
        )
        .readonly()
        .describe('why cells have failed in the end, with the first cell of each reason'),
    })
    .describe('What `notify` sends at the end of a run.'),
} as const;
