import { z } from 'zod';

const time = z.iso.datetime({ precision: 3 }).describe('RFC 3339 in UTC, with milliseconds');
const range = z.strictObject({
  file: z.string(),
  line: z.int().min(1),
  column: z.int().min(1).describe('in UTF-16 code units'),
  endLine: z.int().min(1),
  endColumn: z.int().min(1).describe('exclusive'),
});
const scope = { clusterId: z.string(), accountId: z.string() };

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
  run: z
    .strictObject({
      runId: z.string(),
      pipeline: z.string(),
      status: z.enum(['running', 'suspended', 'succeeded', 'failed', 'canceled']),
      startedAt: time,
      endedAt: time.exactOptional(),
      problem: z.string().exactOptional().describe('why the files of the run could not be read'),
    })
    .describe('A run of a home.'),
  orphan: z
    .strictObject({
      containerId: z.string(),
      runId: z.string(),
      step: z.string(),
      cell: z.string().describe('empty for a plain step'),
      attempt: z.int(),
      phase: z.string().describe('as the service reports it'),
      createdAt: z.string().exactOptional().describe('as the service reports it'),
      run: z.enum(['over', 'unknown']),
      canceled: z.boolean(),
    })
    .describe('A container that no run will use again.'),
  download: z
    .strictObject({ output: z.string(), to: z.string(), files: z.int().min(0), bytes: z.int().min(0) })
    .describe('An output that was copied.'),
  trust: z
    .strictObject({ home: z.string(), connection: z.record(z.string(), z.string()).readonly(), file: z.string() })
    .describe('A confirmed home; `file` contains the confirmation.'),
  login: z
    .strictObject({
      profile: z.string(),
      file: z.string(),
      service: z.string(),
      email: z.string().exactOptional(),
      ...scope,
    })
    .describe('A profile that a login has written.'),
  certificate: z
    .strictObject({ path: z.string() })
    .describe('The certificate that clients of exposed ports must trust.'),
} as const;

/** The name of a printed value. */
export type JsonType = keyof typeof JSON_VALUES;

/** A printed value without `schema` and `type`. */
export type JsonValue<T extends JsonType> = z.input<(typeof JSON_VALUES)[T]>;
