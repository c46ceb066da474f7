import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { isRunId, runDirectory } from '@sluice/home';
import { isSystemError } from '@sluice/host-system';
import { z } from 'zod';
import { ApiError } from '../errors/api-error.ts';
import { RUN_FILES, type RunFileName, releaseReply, stagedFiles, startBody, startReply } from '../schemas/hand-over.ts';
import { type ApiRequest, type ApiRoute, defineRoute } from './api-route.ts';
import type { HandOver } from './run-api.ts';

const offset = z.coerce.number().int().min(0).max(Number.MAX_SAFE_INTEGER);
const isHandOver = true;

/**
 * The endpoints with which a client hands a run over to a server, follows it in a copy of its own, and takes it back. The
 * server executes the run from `:start` to `:release`.
 */
export const HAND_OVER_ROUTES: readonly ApiRoute[] = [
  defineRoute({
    operationId: 'putRunFile',
    summary: 'Append a part of a file of a run that is to be started; the same part may be sent again',
    ...{ method: 'PUT', path: '/runs/{runId}/files/{name}', isHandOver },
    query: z.strictObject({ offset: offset.describe('where the part begins: the bytes received so far, or before') }),
    body: 'bytes',
    reply: stagedFiles,
    handle({ api, at, query, body }) {
      const name = RUN_FILES.find((known) => known === at.name);
      if (name === undefined) throw notFound(`a run has the files ${RUN_FILES.join(' and ')}`);
      if (!Buffer.isBuffer(body)) {
        throw new ApiError(
          415,
          'BODY_TYPE_UNSUPPORTED',
          'could not store the part: send it as application/octet-stream',
        );
      }
      return requireHandOver(api).append(requireRunId(at), { name, offset: query.offset, bytes: body });
    },
  }),
  defineRoute({
    operationId: 'getStagedFiles',
    summary: 'How much of the files of a run was received',
    ...{ method: 'GET', path: '/runs/{runId}/staged', isHandOver },
    query: z.strictObject({}),
    reply: stagedFiles,
    handle: ({ api, at }) => requireHandOver(api).staged(requireRunId(at)),
  }),
  defineRoute({
    operationId: 'startRun',
    summary: 'Execute the run whose files were received: a new one, or one that its client has detached from',
    ...{ method: 'POST', path: '/runs/{runId}:start', isHandOver },
    query: z.strictObject({}),
    body: startBody,
    reply: startReply,
    async handle({ api, at, body }) {
      const runId = requireRunId(at);
      await requireHandOver(api).start(runId, body);
      return { runId, url: api.runUrl?.(runId) ?? '' };
    },
  }),
  defineRoute({
    operationId: 'releaseRun',
    summary: 'Stop executing a run, which the client resumes; its containers keep running',
    ...{ method: 'POST', path: '/runs/{runId}:release', isHandOver },
    query: z.strictObject({}),
    body: z.strictObject({}),
    reply: releaseReply,
    handle: ({ api, at }) => requireHandOver(api).release(requireRunId(at)),
  }),
  defineRoute({
    operationId: 'getJournal',
    summary: 'The journal of a run; with another `ETag` it may differ before `offset`',
    ...{ method: 'GET', path: '/runs/{runId}/journal', isHandOver },
    query: z.strictObject({ offset: offset.default(0) }),
    reply: 'bytes',
    handle: (request) => sendRunFile(request, 'journal.ndjson', request.query.offset),
  }),
  defineRoute({
    operationId: 'getPlanFile',
    summary: 'The plan of a run, as it is stored',
    ...{ method: 'GET', path: '/runs/{runId}/plan-file', isHandOver },
    query: z.strictObject({}),
    reply: 'bytes',
    handle: (request) => sendRunFile(request, 'plan.json', 0),
  }),
];

function requireHandOver(api: ApiRequest['api']): HandOver {
  if (api.handOver) return api.handOver;
  throw new Error('these routes need an account');
}

/** It becomes a part of local paths. */
function requireRunId({ runId }: ApiRequest['at']): string {
  if (isRunId(runId)) return runId;
  throw new ApiError(400, 'PARAMETER_INVALID', 'could not use the ID of the run: it has 13 letters and digits');
}

function notFound(message: string): ApiError {
  return new ApiError(404, 'PATH_NOT_FOUND', message);
}

/**
 * Sends a file from a byte on. A process that resumes a run replaces its journal by the complete lines of it, so the file has
 * another identity then.
 */
async function sendRunFile(
  { api, at, reply }: ApiRequest<unknown>,
  name: RunFileName,
  start: number,
): Promise<unknown> {
  const runId = requireRunId(at);
  const file = await open(join(runDirectory(api.home, runId), name), 'r').catch((error: unknown) => {
    if (isSystemError(error, 'ENOENT', 'ENOTDIR')) return undefined;
    throw error;
  });
  if (file === undefined) throw new ApiError(404, 'RUN_NOT_FOUND', `this account has no run ${runId}`);
  const found = await file.stat({ bigint: true });
  const size = Number(found.size);
  void reply.headers({ etag: `"${found.ino}-${found.birthtimeNs}"`, 'content-length': Math.max(0, size - start) });
  void reply.type('application/octet-stream');
  if (start < size) return reply.send(file.createReadStream({ start, end: size - 1 }));
  await file.close();
  return reply.send(Buffer.alloc(0));
}
