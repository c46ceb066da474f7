import { ok } from '@sluice/core';
import { readFileHistory } from '@sluice/home';
import {
  cellStatus,
  fileHistory,
  fileHistoryValue,
  matchesFilter,
  newestFirst,
  runPhase,
  stepDifference,
} from '@sluice/run';
import { z } from 'zod';
import { ApiError, fromRunError } from '../errors/api-error.ts';
import { streamEvents } from '../events/stream-events.ts';
import { compareFiles } from '../runs/compare-files.ts';
import { portQuery, readDataPort } from '../runs/data-port.ts';
import { describeApprovals } from '../runs/describe-approvals.ts';
import { describeCell } from '../runs/describe-cell.ts';
import { describeCellNames, describeCells, findCell, searchCells } from '../runs/describe-cells.ts';
import { describeGrid } from '../runs/describe-grid.ts';
import { describeRun } from '../runs/describe-run.ts';
import { describeChanges, describeStates } from '../runs/describe-states.ts';
import { describeStepDifferences, explainDifference } from '../runs/explain-difference.ts';
import { openPage, pageAfter, pageQuery, pageSize } from '../runs/page-query.ts';
import { pageEntries, readFiles } from '../runs/read-files.ts';
import {
  cellDetails,
  cellList,
  cellMatches,
  cellNames,
  fileDifferences,
  gridPage,
  logLine,
  stepDifferences,
} from '../schemas/cell-replies.ts';
import { approvalList, changeList, runDetails, runList, runStates } from '../schemas/run-replies.ts';
import { type ApiRoute, defineRoute } from './api-route.ts';
import { serviceOf } from './run-api.ts';
import { sendBytes } from './send-bytes.ts';
import { findLogLine, sendLog } from './send-log.ts';
import { startStream } from './start-stream.ts';

const cellAt = {
  step: z.string().describe('name or index'),
  cell: z.string().exactOptional().describe('name'),
  cellIndex: z.coerce.number().int().min(0).exactOptional().describe('instead of `cell`; absent both: 0'),
};
const attemptAt = {
  ...cellAt,
  attempt: z.coerce.number().int().min(1).exactOptional().describe('absent: the last one'),
};
const gridAxes = z.string().exactOptional();
const repeatable = z.union([z.string(), z.array(z.string())]);
const MAX_RUNS = 100;
/** Runs are created and removed between two pages, so the next one begins after the last run of the previous one. */
const lastRun = z.strictObject({ createdAt: z.number(), runId: z.string() });

/** The endpoints that change nothing. None takes the claim of a run. */
export const READ_ROUTES: readonly ApiRoute[] = [
  defineRoute({
    ...{ operationId: 'listRuns', summary: 'The runs of the home, newest first', method: 'GET', path: '/runs' },
    query: z.strictObject({
      status: z
        .union([runPhase, z.array(runPhase)])
        .default([])
        .describe('of several, any'),
      pipeline: z.string().exactOptional(),
      label: repeatable.default([]).describe('`NAME=VALUE` or `NAME`; of several, all'),
      createdAfter: z.iso.datetime().exactOptional(),
      createdBefore: z.iso.datetime().exactOptional(),
      ...pageQuery,
    }),
    reply: runList,
    async handle({ api, query }) {
      const filter = {
        ...{ statuses: [query.status].flat(), labels: [query.label].flat() },
        ...(query.pipeline !== undefined && { pipeline: query.pipeline }),
        ...(query.createdAfter !== undefined && { createdAfter: Date.parse(query.createdAfter) }),
        ...(query.createdBefore !== undefined && { createdBefore: Date.parse(query.createdBefore) }),
      };
      const wanted = (await api.list.read()).filter((run) => matchesFilter(run, filter));
      const { shown, next } = pageAfter(wanted, openPage('runs', query), {
        type: lastRun,
        keyOf: ({ createdAt, runId }) => ({ createdAt, runId }),
        isAfter: (run, last) => newestFirst(last, run) < 0,
      });
      return { runs: await api.list.describe(shown), ...next };
    },
  }),
  defineRoute({
    ...{ operationId: 'getRun', summary: 'A run with its plan and steps', method: 'GET', path: '/runs/{runId}' },
    query: z.strictObject({}),
    reply: runDetails,
    handle: async ({ api, at }) => describeRun(await api.followers.read(at.runId)),
  }),
  defineRoute({
    ...{ operationId: 'listApprovals', method: 'GET', path: '/runs/{runId}/approvals' },
    summary:
      'The approvals that wait for an answer: what they ask and release, and what has changed since the last one',
    query: z.strictObject({}),
    reply: approvalList,
    handle: async ({ api, at }) => describeApprovals(api, await api.followers.read(at.runId)),
  }),
  defineRoute({
    operationId: 'getStates',
    summary: 'The status of every cell, one letter each',
    ...{ method: 'GET', path: '/runs/{runId}/states' },
    query: z.strictObject({}),
    reply: runStates,
    handle: async ({ api, at }) => describeStates((await api.followers.read(at.runId)).model),
  }),
  defineRoute({
    operationId: 'listChanges',
    summary: 'The changes of the status of cells after a position, oldest first',
    ...{ method: 'GET', path: '/runs/{runId}/changes' },
    query: z.strictObject({
      after: z.coerce.number().int().min(0).default(0).describe('a position'),
      ...{ ...pageQuery, pageSize: pageSize({ max: 100_000, standard: 10_000 }) },
    }),
    reply: changeList,
    async handle({ api, at: { runId }, query }) {
      const { model } = await api.followers.read(runId);
      return describeChanges(model, query.after, openPage(`changes of ${runId}`, query));
    },
  }),
  defineRoute({
    operationId: 'listCells',
    summary: 'The cells of a run or a step',
    ...{ method: 'GET', path: '/runs/{runId}/cells' },
    query: z.strictObject({
      step: z.string().exactOptional().describe('name or index; absent: all steps'),
      status: cellStatus.exactOptional(),
      search: z.string().exactOptional().describe('words that are all part of `STEP/CELL`'),
      row: z.string().exactOptional().describe('of the grid; absent: all rows'),
      axes: gridAxes.describe('of the grid, with `row`'),
      values: z.stringbool().default(false).describe('with the values of the matrix, and the results'),
      ...pageQuery,
    }),
    reply: cellList,
    async handle({ api, at: { runId }, query }) {
      return describeCells(await api.followers.read(runId), query, openPage(`cells of ${runId}`, query));
    },
  }),
  defineRoute({
    operationId: 'getGrid',
    summary: 'A row for each item of some axes, with the status of its cells of each step',
    ...{ method: 'GET', path: '/runs/{runId}/grid' },
    query: z.strictObject({
      axes: gridAxes.describe('names, joined by commas; absent: the first of `choices`'),
      failed: z.stringbool().default(false).describe('only rows with a failed cell'),
      firstRow: z.coerce.number().int().min(0).default(0).describe('index in the matching rows'),
      ...pageQuery,
    }),
    reply: gridPage,
    async handle({ api, at: { runId }, query }) {
      return describeGrid(await api.followers.read(runId), query, openPage(`grid of ${runId}`, query));
    },
  }),
  defineRoute({
    operationId: 'listCellNames',
    summary: 'The names of the cells of a step, in order; they do not change',
    ...{ method: 'GET', path: '/runs/{runId}/cell-names' },
    query: z.strictObject({
      step: cellAt.step,
      firstCellIndex: z.coerce.number().int().min(0).default(0),
      ...pageQuery,
    }),
    reply: cellNames,
    async handle({ api, at: { runId }, query }) {
      return describeCellNames(await api.followers.read(runId), query, openPage(`cell names of ${runId}`, query));
    },
  }),
  defineRoute({
    operationId: 'searchCells',
    summary: 'The cells of matrices and of `foreach` that have a name, by step',
    ...{ method: 'GET', path: '/runs/{runId}/cell-matches' },
    query: z.strictObject({
      search: z
        .string()
        .trim()
        .min(1)
        .describe('words that are all part of `STEP/CELL`; at least one is not only part of the name of the step'),
      perStep: z.coerce.number().int().min(1).max(1000).default(10).describe('the most cells of one step'),
      ...pageQuery,
    }),
    reply: cellMatches,
    async handle({ api, at: { runId }, query }) {
      return searchCells(await api.followers.read(runId), query, openPage(`cell matches of ${runId}`, query));
    },
  }),
  defineRoute({
    operationId: 'getCell',
    summary: 'A cell with its attempts and the explanation of its status',
    ...{ method: 'GET', path: '/runs/{runId}/cell' },
    query: z.strictObject(cellAt),
    reply: cellDetails,
    async handle({ api, at, query }) {
      const run = await api.followers.read(at.runId);
      return describeCell(api.followers, run, findCell(run, query));
    },
  }),
  defineRoute({
    operationId: 'getLog',
    summary: 'The log of an attempt: whole, by `Range`, by lines, or followed to its end',
    ...{ method: 'GET', path: '/runs/{runId}/log' },
    query: z.strictObject({
      ...attemptAt,
      line: z.coerce.number().int().min(1).exactOptional().describe('number of the first line, from 1'),
      count: z.coerce.number().int().min(1).max(100_000).default(1000).describe('of lines, with `line`'),
      follow: z.stringbool().default(false).describe('send what is written until the attempt ends'),
      offset: z.coerce.number().int().min(0).default(0).describe('the first byte, with `follow`'),
    }),
    reply: 'bytes',
    handle: sendLog,
  }),
  defineRoute({
    operationId: 'findLogLine',
    summary: 'The number of the line at an offset of the log of an attempt',
    ...{ method: 'GET', path: '/runs/{runId}/log-line' },
    query: z.strictObject({
      ...attemptAt,
      offset: z.coerce.number().int().min(0).describe('of a byte of the line; beyond the end, the last line'),
    }),
    reply: logLine,
    handle: findLogLine,
  }),
  defineRoute({
    operationId: 'getFiles',
    summary: 'A directory or file of an input or output: a directory in pages, a file also by `Range`',
    ...{ method: 'GET', path: '/runs/{runId}/files' },
    query: z.strictObject({
      ...cellAt,
      ...portQuery,
      path: z.string().default('').describe('relative to the input or output'),
      ...pageQuery,
    }),
    reply: 'bytes',
    async handle({ api, at, query, http, reply }) {
      const page = openPage(`files of ${at.runId}`, query);
      const run = await api.followers.read(at.runId);
      const service = await serviceOf(api, at.runId);
      const found = await readFiles(
        { home: api.home, service, run },
        { ...findCell(run, query), port: readDataPort(query), path: query.path },
      );
      return 'list' in found
        ? pageEntries(found.list, page)
        : sendBytes(found.file, { http, reply, type: 'application/octet-stream' });
    },
  }),
  defineRoute({
    operationId: 'getFileHistory',
    summary: 'Which run, step and attempt wrote the files of an input or output, and who has reused or mounted them',
    ...{ method: 'GET', path: '/runs/{runId}/history' },
    query: z.strictObject({
      ...cellAt,
      ...portQuery,
      path: z.string().default('').describe('relative to the input or output'),
    }),
    reply: fileHistory,
    async handle({ api, at: { runId }, query }) {
      const place = findCell(await api.followers.read(runId), query);
      const { kind, name } = readDataPort(query);
      const port = { ...place, kind, name, path: query.path };
      const read = await readFileHistory({ home: api.home, runId, port: () => ok(port) });
      if (!read.ok) throw fromRunError(read.error);
      return fileHistoryValue(read.value);
    },
  }),
  defineRoute({
    operationId: 'compareFiles',
    summary: 'The files of an input or output that differ from those of another run or cell, by their content',
    ...{ method: 'GET', path: '/runs/{runId}/differences' },
    query: z.strictObject({
      ...cellAt,
      ...portQuery,
      with: z.string().describe('the ID of the other run'),
      withStep: z.string().exactOptional().describe('absent: the same name'),
      withCell: z.string().exactOptional().describe('name; absent: the same name'),
    }),
    reply: fileDifferences,
    handle: ({ api, at, query }) =>
      compareFiles({ ...api, openService: (runId) => serviceOf(api, runId) }, at.runId, {
        ...query,
        port: readDataPort(query),
      }),
  }),
  defineRoute({
    operationId: 'explainDifference',
    summary: 'Why a step or a cell differs from that of another run, up to the first cause',
    ...{ method: 'GET', path: '/runs/{runId}/difference' },
    query: z.strictObject({
      ...cellAt,
      cellIndex: cellAt.cellIndex.describe('instead of `cell`; absent both: the whole step'),
      with: z.string().exactOptional().describe('the ID of the other run; absent: the previous one that has the step'),
      withStep: z.string().exactOptional().describe('absent: the same name'),
      withCell: z.string().exactOptional().describe('name; absent: the same name, or the same values'),
    }),
    reply: stepDifference,
    handle: ({ api, at, query }) => explainDifference(api, at.runId, query),
  }),
  defineRoute({
    operationId: 'compareSteps',
    summary: 'Which steps of a run differ from those of another run, and why',
    ...{ method: 'GET', path: '/runs/{runId}/step-differences' },
    query: z.strictObject({ with: z.string().describe('the ID of the other run') }),
    reply: stepDifferences,
    handle: ({ api, at, query }) => describeStepDifferences(api, at.runId, query.with),
  }),
  defineRoute({
    operationId: 'streamEvents',
    summary: 'Events of runs and of the list of runs, as server-sent events',
    ...{ method: 'GET', path: '/events' },
    query: z.strictObject({
      run: repeatable.default([]).describe('IDs of runs'),
      list: z.stringbool().default(false),
    }),
    reply: 'events',
    async handle({ api, query, http, reply }) {
      const runs = [...new Set([query.run].flat())];
      if (runs.length > MAX_RUNS) {
        throw new ApiError(400, 'PARAMETER_INVALID', `could not follow ${runs.length} runs: at most ${MAX_RUNS}`);
      }
      const header = http.headers['last-event-id'];
      const lastEventId = typeof header === 'string' ? header : undefined;
      const signal = startStream(reply, { type: 'text/event-stream', closing: api.closing, streams: api.streams });
      await streamEvents(reply.raw, { runs, list: query.list, lastEventId, feeds: api.feeds, signal });
      return reply;
    },
  }),
];
