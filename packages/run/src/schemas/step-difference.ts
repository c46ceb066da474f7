import { z } from 'zod';
import { cellName, count } from './words.ts';

/** What a part of a fingerprint is. */
const PART_KINDS = [
  'image',
  'command',
  'variable',
  'secret',
  'key',
  'matrix',
  'item',
  'input',
  'source',
  'output',
  'result',
  'order',
  'cells',
  'other',
] as const;

const digest = z.string().describe('SHA-256 of the content');

const file = z.strictObject({
  path: z.string().describe('relative to the source'),
  kind: z.enum(['added', 'removed', 'changed']),
  before: digest.exactOptional(),
  after: digest.exactOptional(),
});

/** A file of a source that differs between two runs. */
export interface SourceFileDifference extends z.infer<typeof file> {}

const part = z.strictObject({
  kind: z
    .enum(PART_KINDS)
    .describe(
      '`source`: an input from a volume; `order`: a step before it that is in no input; `cells`: of such a step',
    ),
  name: z.string().describe('for example `command` or `inputs.data`'),
  before: z.string().exactOptional().describe('in the other run, shortened; absent if it is new or has no text'),
  after: z.string().exactOptional().describe('in this run, shortened; absent if it was removed or has no text'),
  message: z.string().describe('about this part alone, in words'),
  place: count.exactOptional().describe('index in `places` of where the difference comes from'),
  files: z.array(file).readonly().exactOptional().describe('of `source`: the first 20 files that differ'),
  fileCount: count.exactOptional().describe('of `source`: the number of all files that differ'),
});

/** A part of a fingerprint that differs between two runs. */
export interface PartDifference extends z.infer<typeof part> {}

const place = z.strictObject({
  step: z.string(),
  cell: cellName.exactOptional().describe('absent if several cells are meant'),
  cellIndex: count.exactOptional().describe('of `cell`'),
  otherCell: cellName.exactOptional().describe('of the other run, if it has another name there'),
  verdict: z
    .enum(['different', 'repeated', 'same', 'added', 'removed', 'unknown'])
    .describe(
      '`repeated`: the same work, but it or work before it was executed again; `same`: also the same result; `added`: only this run has it; `unknown`: the records say too little',
    ),
  message: z.string().describe('in words, without what its parts say'),
  parts: z.array(part).readonly().describe('the first 50, first those that lead to what was changed'),
  partCount: count,
});

/** A cell, or some cells of a step, compared between two runs. */
export interface PlaceDifference extends z.infer<typeof place> {}

const group = z.strictObject({
  verdict: place.shape.verdict,
  cellCount: z.int().min(1),
  cells: z.array(cellName).readonly().describe('the first 20'),
  message: z.string().describe('about the first of them: the path to the first cause, as a sentence'),
  place: count.exactOptional().describe('index in `places` of the first of them; absent if it is in one run only'),
});

/** Cells that differ in the same parts. */
export interface DifferenceGroup extends z.infer<typeof group> {}

/** Why a step or a cell of a run differs from that of another run. */
export const stepDifference = z.strictObject({
  runId: z.string(),
  otherRunId: z.string().exactOptional().describe('absent if no earlier run has the step'),
  step: z.string(),
  cell: cellName.exactOptional().describe('absent if the whole step is compared'),
  otherStep: z.string().exactOptional().describe('the step of the other run, if it has another name'),
  message: z.string().describe('the answer as a sentence'),
  cellCount: count.describe('the cells of both runs together'),
  comparedCount: count.describe('how many of them were compared: at most 10,000'),
  groups: z
    .array(group)
    .readonly()
    .describe('by what differs, largest first, at most 20; those without a difference last'),
  groupCount: count,
  places: z.array(place).readonly().describe('what the groups and parts refer to, at most 200'),
});

/** Why a step or a cell of a run differs from that of another run. */
export interface StepDifference extends z.infer<typeof stepDifference> {}

/** A step of a run, compared with that of another run. */
export const comparedStep = z.strictObject({
  step: z.string(),
  verdict: place.shape.verdict.describe('of several cells, that of the first group: `different` if one differs'),
  message: z.string().describe('why it differs, as a sentence'),
  cellCount: count.describe('the cells of both runs together'),
  differentCount: count.describe('the number of cells that differ, among those that were compared'),
});

/** A step of a run, compared with that of another run. */
export interface ComparedStep extends z.infer<typeof comparedStep> {}
