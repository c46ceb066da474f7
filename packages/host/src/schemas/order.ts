import { isAbsolute } from 'node:path';
import { identifierSchema, volumeServiceSchema } from '@sluice/client';
import { isRunId } from '@sluice/home';
import { runOrder } from '@sluice/run';
import { z } from 'zod';

/** The most bytes of an order. A server reads it in one piece. */
export const MAX_ORDER_BYTES = 8 * 1024 * 1024;
/** Of all texts of an order together, in characters. */
const MAX_TEXTS = 4 * 1024 * 1024;
const MAX_FILES = 1_000;
const MAX_NAMES = 10_000;
/** Of sources, in one field of an order. */
const MAX_PATHS = 100_000;

const digest = z.string().regex(/^[0-9a-f]{40}$/, 'must have 40 hexadecimal digits');
const fileName = z.string().min(1).max(4_096);
const name = z.string().min(1).max(256);

function countCharacters(texts: Readonly<Record<string, string>>): number {
  return Object.values(texts).reduce((sum, text) => sum + text.length, 0);
}

function countPaths(lists: readonly (readonly string[])[]): number {
  return lists.reduce((sum, list) => sum + list.length, 0);
}

/** What is reused of an earlier run of the server. */
const reuse = z.strictObject({
  runId: z.string().refine(isRunId, 'must be the ID of a run'),
  from: z
    .array(z.string().min(1).max(600))
    .max(MAX_NAMES)
    .describe('`STEP` or `STEP/CELL`: what is run although it has not changed'),
});

/** The body of `PUT /runs/{runId}`: what a person has written, and where the data is that was uploaded for it. */
export const orderBody = z.strictObject({
  order: runOrder.describe('what the command was asked for; a server opens none of its paths'),
  pipeline: z
    .strictObject({
      file: fileName.describe('the name of the pipeline file among the texts'),
      texts: z
        .record(fileName, z.string())
        .refine((texts) => Object.keys(texts).length <= MAX_FILES, `must have at most ${MAX_FILES} files`)
        .refine((texts) => countCharacters(texts) <= MAX_TEXTS, `must have at most ${MAX_TEXTS} characters together`)
        .describe('by name: the pipeline file, and every file that it includes or uses'),
    })
    .describe('the texts of the pipeline'),
  sources: z
    .record(name, digest)
    .default({})
    .describe('by volume: the digest of the source that was uploaded to the workspace'),
  parts: z
    .record(name, z.record(fileName, digest))
    .refine(
      (parts) => countPaths(Object.values(parts).map(Object.keys)) <= MAX_PATHS,
      `must have at most ${MAX_PATHS} paths`,
    )
    .exactOptional()
    .describe('by volume: the digests of the files and directories of its source that steps read, by path'),
  files: z
    .record(name, z.array(fileName).readonly())
    .refine((files) => countPaths(Object.values(files)) <= MAX_PATHS, `must have at most ${MAX_PATHS} paths`)
    .exactOptional()
    .describe('by axis: the files of an uploaded source that are its items'),
  workspace: z
    .strictObject({ volumeId: identifierSchema, login: volumeServiceSchema })
    .exactOptional()
    .describe('the volume for the data of the run, and its login as the service sent it; absent: the run has no data'),
  secrets: z
    .record(name, z.string().max(262_144))
    .default({})
    .describe('by name: the values of all secrets that the pipeline names'),
  reuse: reuse.exactOptional().describe('reuse what succeeded and has not changed of a run that this server has'),
});

/** The body of `PUT /runs/{runId}` of a home: its files are on the same machine, so their texts are not sent. */
export const homeOrderBody = z.strictObject({
  order: runOrder
    .pick({ file: true, params: true })
    .refine(({ file }) => isAbsolute(file), 'must have an absolute path as its file')
    .describe('the pipeline file on the machine of the home, and its parameters'),
});

/** An order as a client sends it. */
export type OrderBody = z.input<typeof orderBody>;

/** The reply of `PUT /runs/{runId}`. */
export const orderReply = z.strictObject({
  runId: z.string(),
  url: z.url().exactOptional().describe('of a server: the run in its dashboard'),
});

/** Which run a server executes again, as it is recorded beside the new run. */
export const rerunRequest = z.strictObject({
  of: z.string().describe('the ended run'),
  from: z
    .array(z.string())
    .exactOptional()
    .describe('`STEP` or `STEP/CELL`: what is run although it has not changed; absent: nothing is reused'),
});

/** A request to execute the plan of an ended run again. */
export type RerunRequest = z.input<typeof rerunRequest>;
