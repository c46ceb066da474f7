import { identifierSchema, volumeServiceSchema } from '@sluice/client';
import { runPhase } from '@sluice/run';
import { z } from 'zod';

/** The files that are a run. A client sends them to hand the run over. */
export const RUN_FILES = ['plan.json', 'journal.ndjson'] as const;

/** The name of a file of a run. */
export type RunFileName = (typeof RUN_FILES)[number];

/** The most bytes of one `PUT`: larger files are sent in parts. */
export const MAX_PART_BYTES = 8 * 1024 * 1024;

/**
 * The most bytes of each file. A server reads them in one piece, while it serves no other request, so that the sizes limit for how
 * long one account can delay the others.
 */
export const MAX_FILE_BYTES: Readonly<Record<RunFileName, number>> = {
  'plan.json': 4 * 1024 * 1024,
  'journal.ndjson': 8 * 1024 * 1024,
};

const bytes = z.int().min(0).max(Number.MAX_SAFE_INTEGER);
const sha256 = z.string().regex(/^[0-9a-f]{64}$/, 'must be a SHA-256 in hexadecimal');
const digest = z.strictObject({ size: bytes, sha256 });
const sentFile = (name: RunFileName) => digest.extend({ size: bytes.min(1).max(MAX_FILE_BYTES[name]) });

/** The reply of `GET /runs/{runId}/staged` and of each `PUT`. */
export const stagedFiles = z.strictObject({
  files: z.strictObject({ 'plan.json': bytes, 'journal.ndjson': bytes }).describe('bytes received, by file'),
});

/** The body of `POST /runs/{runId}:start`. */
export const startBody = z.strictObject({
  files: z
    .strictObject({ 'plan.json': sentFile('plan.json'), 'journal.ndjson': sentFile('journal.ndjson') })
    .describe('the files as they were sent; the journal ends with a complete line'),
  secrets: z
    .record(z.string().min(1).max(256), z.string().max(262_144))
    .default({})
    .describe('by name: the values of all secrets that the pipeline names'),
  logins: z
    .record(identifierSchema, volumeServiceSchema)
    .default({})
    .describe(
      'by ID: the logins of the workspace volumes in the journal, as the service sent them when it created them',
    ),
});

/** Which run a server executes again, as it is recorded beside the new run. */
export const rerunRequest = z.strictObject({
  of: z.string().describe('the ended run'),
  force: z
    .array(z.string())
    .exactOptional()
    .describe('steps that are run although they have not changed; absent: nothing is reused'),
});

/** A request to execute the plan of an ended run again. */
export type RerunRequest = z.input<typeof rerunRequest>;

/** The reply of `POST /runs/{runId}:start`. */
export const startReply = z.strictObject({
  runId: z.string(),
  url: z.url().describe('the run in the dashboard of the server'),
});

/** The reply of `POST /runs/{runId}:release`. */
export const releaseReply = z.strictObject({
  runId: z.string(),
  status: runPhase
    .exactOptional()
    .describe('`suspended`, or how the run has ended; absent if the server has no such run'),
  journal: digest
    .exactOptional()
    .describe('the journal from now on; absent if the server has not started the run, and never will'),
});
