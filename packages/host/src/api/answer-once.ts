import { createHash } from 'node:crypto';
import { mkdir, readdir, readFile, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { isSystemError, replaceFile } from '@sluice/host-system';
import { createRunId, isRunId } from '@sluice/runner';
import type { FastifyRequest } from 'fastify';
import { z } from 'zod';
import { ApiError } from '../errors/api-error.ts';
import type { ApiRequest } from './api-route.ts';

const DAY_MS = 86_400_000;

/** What is stored for a key. Without `reply`, no request with the key has succeeded yet. */
const storedKey = z.strictObject({
  request: z.string().length(64),
  /** Of the run that the request starts, if it does. Absent in files of earlier versions. */
  runId: z.string().refine(isRunId).exactOptional(),
  reply: z.unknown().optional(),
});

/**
 * Performs an action once for each `Idempotency-Key`: a repeated request gets the first reply, for a day, also from another
 * process. Dry runs and errors are not kept. `action` receives the ID of the run that the request starts, if it does. It is
 * random, and stored with the key before the action begins: a request that is repeated after a crash or an error starts no
 * second run, and the same key in another home, or after a day, starts another run. Without the header, every request is
 * performed.
 */
export async function answerOnce(
  { api, http, body }: Pick<ApiRequest, 'api' | 'http' | 'body'>,
  action: (runId: string) => Promise<unknown>,
): Promise<unknown> {
  const key = keyOf(http);
  if (key === undefined) return action(createRunId());
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
    const known = await readKey(file);
    const isSame = known?.request === request;
    if (known?.reply !== undefined) {
      if (isSame) return known.reply;
      throw new ApiError(409, 'KEY_REUSED', 'could not use the Idempotency-Key: it belongs to another request');
    }
    const runId = (isSame && known.runId) || createRunId();
    if (isDryRun(body)) return action(runId);
    await mkdir(directory, { recursive: true, mode: 0o700 });
    await removeOld(directory);
    const store = (value: z.infer<typeof storedKey>) => replaceFile(file, Buffer.from(JSON.stringify(value)));
    await store({ request, runId });
    const reply = await action(runId);
    await store({ request, runId, reply });
    return reply;
  }
}

function isDryRun(body: unknown): boolean {
  return typeof body === 'object' && body !== null && 'dryRun' in body && body.dryRun === true;
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

/** Undefined: the key was not used within a day. */
async function readKey(file: string): Promise<z.infer<typeof storedKey> | undefined> {
  try {
    const { mtimeMs } = await stat(file);
    return Date.now() - mtimeMs > DAY_MS ? undefined : storedKey.parse(JSON.parse(await readFile(file, 'utf8')));
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
