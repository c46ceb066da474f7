import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { renderLogCut } from '@sluice/client';
import { viewCell } from '@sluice/run';
import type { z } from 'zod';
import { ApiError } from '../errors/api-error.ts';
import { findContainer } from '../runs/describe-cell.ts';
import { type CellAddress, findCell } from '../runs/describe-cells.ts';
import { openLog, type ReadableLog } from '../runs/open-log.ts';
import type { logLine } from '../schemas/cell-replies.ts';
import type { ApiRequest } from './api-route.ts';
import { serviceOf } from './run-api.ts';
import { sendBytes } from './send-bytes.ts';
import { startStream } from './start-stream.ts';

/** Whose log. */
interface AttemptQuery extends CellAddress {
  readonly attempt?: number | undefined;
}

/** Which part of which log. */
interface LogQuery extends AttemptQuery {
  readonly line?: number | undefined;
  readonly count: number;
  readonly follow: boolean;
  readonly offset: number;
}

/** Opens the log that a query names. Throws `ApiError`. */
async function openLogOf({ api, at, query }: ApiRequest<AttemptQuery>): Promise<ReadableLog> {
  const run = await api.followers.read(at.runId);
  const place = findCell(run, query);
  const container = findContainer(run, place, query.attempt ?? 0);
  if (container === undefined) {
    const view = viewCell(run.model, place.step, place.cell);
    const reused = view.reusedFrom === undefined ? '' : `; it was reused from run ${view.reusedFrom}`;
    throw new ApiError(
      404,
      'LOG_NOT_FOUND',
      `there is no log: the attempt has no container in run ${at.runId}${reused}`,
    );
  }
  const service = await serviceOf(api, at.runId);
  return openLog({ service, copies: api.logs, directory: run.directory }, container);
}

/** The number of the line at an offset of the log of an attempt. Throws `ApiError`. */
export async function findLogLine(request: ApiRequest<AttemptQuery & { readonly offset: number }>) {
  const log = await openLogOf(request);
  return { line: await request.api.lines.lineAt(log, request.query.offset) } satisfies z.input<typeof logLine>;
}

/** Sends the log of an attempt as the query and the header `Range` ask for it. */
export async function sendLog(request: ApiRequest<LogQuery>): Promise<unknown> {
  const { api, query, http, reply } = request;
  const log = await openLogOf(request);
  if (log.cut !== undefined) void reply.headers(renderLogCut(log.cut));
  if (query.follow) {
    const signal = startStream(reply, { type: 'text/plain', closing: api.closing, streams: api.streams });
    await pipeline(Readable.from(log.follow(query.offset, signal)), reply.raw).catch(() => {
      // The status has been sent; only a cut connection shows the client that the log is incomplete.
      reply.raw.destroy();
    });
    return reply;
  }
  const type = 'text/plain; charset=utf-8';
  if (query.line === undefined) return sendBytes(log, { http, reply, type });
  const start = await api.lines.find(log, query.line);
  return reply.type(type).send(Readable.from(readLines(log, { start, count: query.count }), { objectMode: false }));
}

/** The bytes of so many lines from an offset on. */
async function* readLines(
  log: ReadableLog,
  { start, count }: { readonly start: number; readonly count: number },
): AsyncIterable<Uint8Array> {
  if (start >= log.size) return;
  let left = count;
  for await (const block of log.read({ start, end: log.size })) {
    let end = 0;
    while (left > 0 && end < block.length) {
      const at = block.indexOf(10, end);
      end = at < 0 ? block.length : at + 1;
      if (at >= 0) left--;
    }
    yield block.subarray(0, end);
    if (left === 0) return;
  }
}
