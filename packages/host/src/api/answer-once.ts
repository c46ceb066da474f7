import { createHash, randomBytes } from 'node:crypto';
import { mkdir, readdir, readFile, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { isSystemError, replaceFile } from '@sluice/host-system';
import type { FastifyRequest } from 'fastify';
import { ApiError } from '../errors/api-error.ts';
import type { ApiRequest } from './api-route.ts';

const DAY_MS = 86_400_000;
const ALPHABET = 'abcdefghijklmnopqrstuvwxyz234567';
const RUN_ID_LENGTH = 13;

/**
 * Performs an action once for each `Idempotency-Key`: a repeated request gets the first reply, for a day, also from another
 * process. Dry runs and errors are not kept. Without the header, every request is performed.
 */
export async function answerOnce(
  { api, http, body }: Pick<ApiRequest, 'api' | 'http' | 'body'>,
  action: () => Promise<unknown>,
): Promise<unknown> {
  const key = keyOf(http);
  if (key === undefined) return action();
  const directory = join(api.home, 'host', 'replies');
  const file = join(directory, `${digest('reply', [key]).toString('hex')}.json`);
  const request = digest('request', [http.method, http.url, JSON.stringify(http.body ?? {})]).toString('hex');
  // Only one request with a key at a time, whatever its result.
  const previous = api.actions.get(file);
  const done = perform();
  api.actions.set(file, done);
  try {
    return await done;
  } finally {
    if (api.actions.get(file) === done) api.actions.delete(file);
  }

  async function perform(): Promise<unknown> {
    await previous?.catch(() => {});
    const known = await readReply(file);
    if (known !== undefined && known.request !== request) {
      throw new ApiError(409, 'KEY_REUSED', 'could not use the Idempotency-Key: it belongs to another request');
    }
    if (known !== undefined) return known.reply;
    const reply = await action();
    if (isDryRun(body)) return reply;
    await mkdir(directory, { recursive: true, mode: 0o700 });
    await removeOld(directory);
    await replaceFile(file, Buffer.from(JSON.stringify({ request, reply })));
    return reply;
  }
}

function isDryRun(body: unknown): boolean {
  return typeof body === 'object' && body !== null && 'dryRun' in body && body.dryRun === true;
}

/** The ID of the run that a request starts: with a key always the same, so that a repeated request starts no second run. */
export function newRunId(http: FastifyRequest): string {
  const key = keyOf(http);
  const bytes = key === undefined ? randomBytes(RUN_ID_LENGTH) : digest('run', [key, http.url]);
  return [...bytes.subarray(0, RUN_ID_LENGTH)].map((byte) => ALPHABET[byte % ALPHABET.length]).join('');
}

function keyOf(http: FastifyRequest): string | undefined {
  const key = http.headers['idempotency-key'];
  if (key === undefined || key === '') return undefined;
  if (typeof key === 'string' && key.length <= 255) return key;
  throw new ApiError(
    400,
    'PARAMETER_INVALID',
    'could not use the Idempotency-Key: it must be one text of at most 255 bytes',
  );
}

function digest(purpose: string, parts: readonly string[]): Buffer {
  return createHash('sha256')
    .update(JSON.stringify([purpose, ...parts]))
    .digest();
}

async function readReply(file: string): Promise<{ readonly request: string; readonly reply: unknown } | undefined> {
  try {
    const { mtimeMs } = await stat(file);
    return Date.now() - mtimeMs > DAY_MS ? undefined : JSON.parse(await readFile(file, 'utf8'));
  } catch (error) {
    if (isSystemError(error, 'ENOENT')) return undefined;
    throw error;
  }
}

async function removeOld(directory: string): Promise<void> {
  for (const name of await readdir(directory)) {
    const path = join(directory, name);
    const found = await stat(path).catch(() => undefined);
    if (found !== undefined && Date.now() - found.mtimeMs > DAY_MS) await rm(path, { force: true });
  }
}
