import { runEntry } from '@sluice/run';
import { z } from 'zod';
import { EVENT_VALUES } from './event-values.ts';
import { OPERATE_VALUES } from './operate-values.ts';
import { REPORT_VALUES } from './report-values.ts';

const range = z.strictObject({
  file: z.string(),
  line: z.int().min(1),
  column: z.int().min(1).describe('in UTF-16 code units'),
  endLine: z.int().min(1),
  endColumn: z.int().min(1).describe('exclusive'),
});

/**
 * What commands print with `--json`, by the value of `type`. The JSON Schemas of the package are generated from these;
 * `schema` and `type` are added to each.
 */
export const JSON_VALUES = {
  error: z
    .strictObject({ code: z.string().regex(/^[A-Z_]+$/), message: z.string() })
    .describe('Why a command stopped. The exit code is that of the process.'),
  diagnostic: z
    .strictObject({
      code: z.string().describe('the check, as in docs/checks.md'),
      severity: z.enum(['error', 'warning']),
      message: z.string(),
      range: range.exactOptional(),
      hint: z.string().exactOptional(),
      related: z
        .array(z.strictObject({ message: z.string(), range }))
        .readonly()
        .exactOptional(),
    })
    .describe('A problem in a pipeline file.'),
  omitted: z
    .strictObject({ errors: z.int().min(0), warnings: z.int().min(0) })
    .describe('The number of diagnostics that were not printed.'),
  run: runEntry.describe('A run of a home.'),
  ...EVENT_VALUES,
  ...OPERATE_VALUES,
  ...REPORT_VALUES,
} as const;

/** The name of a printed value. */
export type JsonType = keyof typeof JSON_VALUES;

/** A printed value without `schema` and `type`. */
export type JsonValue<T extends JsonType> = z.input<(typeof JSON_VALUES)[T]>;
