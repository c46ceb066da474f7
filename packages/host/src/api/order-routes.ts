import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { isRunId, runDirectory } from '@sluice/home';
import { isSystemError } from '@sluice/host-system';
import { z } from 'zod';
import { ApiError } from '../errors/api-error.ts';
import { homeOrderBody, MAX_ORDER_BYTES, orderBody, orderReply } from '../schemas/order.ts';
import { type ApiRequest, type ApiRoute, defineRoute } from './api-route.ts';
import { startHomeOrder } from './start-home-order.ts';

const offset = z.coerce.number().int().min(0).max(Number.MAX_SAFE_INTEGER);

const orderRoute = {
  operationId: 'orderRun',
  summary: 'Execute the pipeline of the order as a run with this ID; the same order again starts nothing',
  ...{ method: 'PUT' as const, path: '/runs/{runId}' },
  query: z.strictObject({}),
  reply: orderReply,
};

/** The endpoints with which a client copies what is recorded of a run. */
const COPY_ROUTES: readonly ApiRoute[] = [
  defineRoute({
    operationId: 'getJournal',
    summary: 'The journal of a run; with another `ETag` it may differ before `offset`',
    ...{ method: 'GET', path: '/runs/{runId}/journal' },
    query: z.strictObject({ offset: offset.default(0) }),
    reply: 'bytes',
    handle: (request) => sendRunFile(request, 'journal.ndjson', request.query.offset),
  }),
  defineRoute({
    operationId: 'getPlanFile',
    summary: 'The plan of a run, as it is stored',
    ...{ method: 'GET', path: '/runs/{runId}/plan-file' },
    query: z.strictObject({}),
    reply: 'bytes',
    handle: (request) => sendRunFile(request, 'plan.json', 0),
  }),
];

/** The endpoints with which a client orders a run from a server, and copies what the server records of it. */
export const SERVER_ORDER_ROUTES: readonly ApiRoute[] = [
  defineRoute({
    ...{ ...orderRoute, bodyLimit: MAX_ORDER_BYTES },
    body: orderBody,
    async handle({ api, at, body }) {
      const runId = requireRunId(at);
      if (api.orders === undefined) throw new Error('this route needs an account');
      await api.orders.order(runId, body);
      const url = api.runUrl?.(runId);
      return { runId, ...(url !== undefined && { url }) };
    },
  }),
  ...COPY_ROUTES,
];

/** The same endpoints of a home, which has the files of its orders. */
export const HOME_ORDER_ROUTES: readonly ApiRoute[] = [
  defineRoute({
    ...orderRoute,
    body: homeOrderBody,
    async handle({ api, at, body: { order } }) {
      const runId = requireRunId(at);
      await api.exclude(runId, () => startHomeOrder(api, runId, order));
      return { runId };
    },
  }),
  ...COPY_ROUTES,
];

/** It becomes a part of local paths. */
export function requireRunId({ runId }: ApiRequest['at']): string {
  if (isRunId(runId)) return runId;
  throw new ApiError(400, 'PARAMETER_INVALID', 'could not use the ID of the run: it has 13 letters and digits');
}

/**
 * Sends a file from a byte on. A process that resumes a run replaces its journal by the complete lines of it, so the file has
 * another identity then.
 */
async function sendRunFile(
  { api, at, reply }: ApiRequest<unknown>,
  name: 'plan.json' | 'journal.ndjson',
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
