import { readdir, readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { isSystemError } from '@sluice/host-system';
import { z } from 'zod';

/** A longer request is ignored. */
export const MAX_REQUEST = 4096;
/** Each holder of a claim has a directory of its own for requests, whose name is in this file. */
export const REQUEST_POINTER = '.requests';
const TAKEN = 'taken-';
const NAME = /^\.requests-[0-9a-f]{16}$/;

const requestSchema = z.strictObject({
  id: z.string().regex(/^[0-9a-f]{32}$/),
  line: z.string().min(1).max(MAX_REQUEST),
});
const answerSchema = z.strictObject({ id: requestSchema.shape.id, answer: z.string() });
/** A line of a claim's `requests`. */
export type FileRequest = z.infer<typeof requestSchema>;
/** A line of a claim's `answers`. */
export type FileAnswer = z.infer<typeof answerSchema>;

/** Where the present holder of a directory's claim takes requests; undefined if it takes none. */
export async function findRequestDirectory(directory: string): Promise<string | undefined> {
  const name = await readFile(path.join(directory, REQUEST_POINTER), 'utf8').catch(() => '');
  return NAME.test(name) ? path.join(directory, name) : undefined;
}

/**
 * Removes what former holders of a directory's claim have left, except a directory with a request that was taken: its answer
 * may not be read yet. Only the holder may call this.
 */
export async function removeRequestDirectories(directory: string): Promise<void> {
  const names = await readdir(directory).catch(() => []);
  await rm(path.join(directory, REQUEST_POINTER), { force: true }).catch(() => undefined);
  for (const name of names) if (NAME.test(name)) await removeUnlessTaken(path.join(directory, name));
}

/** Removes the directory of a holder that has left, unless a request in it was taken. */
export async function removeUnlessTaken(requests: string): Promise<void> {
  const names = await readdir(requests).catch(() => []);
  if (names.some((name) => name.startsWith(TAKEN))) return;
  await rm(requests, { recursive: true, force: true }).catch(() => undefined);
}

/** Senders append to it. */
export function requestsPath(requests: string): string {
  return path.join(requests, 'requests');
}

/** The holder appends to it. */
export function answersPath(requests: string): string {
  return path.join(requests, 'answers');
}

/**
 * Whether a request is the caller's: of its holder, who carries it out, and its sender, who withdraws it, exactly one takes it.
 * Throws `ENOENT` if the holder has left and had not taken it.
 */
export async function takeRequest(requests: string, id: string): Promise<boolean> {
  try {
    // On a network file system, too, its server decides about an exclusive creation.
    await writeFile(takenPath(requests, id), '', { flag: 'wx', mode: 0o600 });
    return true;
  } catch (error) {
    if (isSystemError(error, 'EEXIST')) return false;
    throw error;
  }
}

/** The file by which a request is taken. Its sender removes it with the answer. */
export function takenPath(requests: string, id: string): string {
  return path.join(requests, `${TAKEN}${id}`);
}

/** The valid requests of a file. Others, such as an incomplete last one, are left out. */
export function parseRequests(text: string): FileRequest[] {
  return parseLines(text, requestSchema);
}

/** As `parseRequests`, for answers. */
export function parseAnswers(text: string): FileAnswer[] {
  return parseLines(text, answerSchema);
}

function parseLines<T>(text: string, schema: z.ZodType<T>): T[] {
  return text
    .split('\n')
    .slice(0, -1)
    .flatMap((line) => {
      try {
        return [schema.parse(JSON.parse(line))];
      } catch {
        return [];
      }
    });
}
