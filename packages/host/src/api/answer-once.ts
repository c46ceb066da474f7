import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { createRunId, runDirectory } from '@sluice/home';
import type { FastifyRequest } from 'fastify';
import { ApiError } from '../errors/api-error.ts';
import type { ApiRequest } from './api-route.ts';

/**
 * Performs an action once for each `Idempotency-Key`: a repeated request gets the first reply, for a day, also from another
 * process. Dry runs and errors are not kept. `action` receives the ID of the run that the request starts, if it does. It is
 * random, and stored with the key before the action begins: a request that is repeated after a crash or an error starts no
 * second run, and the same key in another home, or after a day, starts another run. The key of a request that was rejected
 * before anything began is not kept. Without the header, every request is performed.
 */
export async function answerOnce(
  { api, http, body }: Pick<ApiRequest, 'api' | 'http' | 'body'>,
  action: (runId: string) => Promise<unknown>,
): Promise<unknown> {
  const key = keyOf(http);
  if (key === undefined) return action(createRunId());
  const { keys } = api;
  const name = `${digest('reply', [key]).toString('hex')}.json`;
  const request = digest('request', [http.method, http.url, JSON.stringify(http.body ?? {})]).toString('hex');
  // Only one request with a key at a time, whatever its result.
  const previous = keys.inProgress.get(name);
  const done = perform();
  keys.inProgress.set(name, done);
  try {
    return await done;
  } finally {
    if (keys.inProgress.get(name) === done) keys.inProgress.delete(name);
  }

  async function perform(): Promise<unknown> {
    await previous?.catch(() => {});
    const known = await keys.read(name);
    const isSame = known?.request === request;
    if (known?.reply !== undefined) {
      if (isSame) return known.reply;
      throw new ApiError(409, 'KEY_REUSED', 'could not use the Idempotency-Key: it belongs to another request');
    }
    const runId = isSame ? known.runId : createRunId();
    if (isDryRun(body)) return action(runId);
    await keys.write(name, { request, runId });
    try {
      const reply = await action(runId);
      await keys.write(name, { request, runId, reply });
      return reply;
    } catch (error) {
      if (isRejection(error) && !existsSync(runDirectory(api.home, runId))) await keys.forget(name);
      throw error;
    }
  }
}

/** After any other error, something may have begun. */
function isRejection(error: unknown): boolean {
  return error instanceof ApiError && error.status < 500;
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
