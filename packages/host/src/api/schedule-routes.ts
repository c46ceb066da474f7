import {
  listPlannedTimes,
  listSchedules,
  type PlannedTimeReport,
  pauseSchedule,
  renderRange,
  requestBackfill,
  type ScheduleSummary,
  unpauseSchedule,
} from '@sluice/home';
import { orderWords } from '@sluice/run';
import { z } from 'zod';
import { ApiError } from '../errors/api-error.ts';
import { quoteCommand } from '../runs/describe-run.ts';
import { BY_NAME, openPage, type Page, pageAfter, pageQuery } from '../runs/page-query.ts';
import { toTime } from '../runs/to-time.ts';
import { actionReply } from '../schemas/actions.ts';
import { backfillBody, type plannedTime, plannedTimeList, scheduleBody, scheduleList } from '../schemas/schedules.ts';
import { type ApiRequest, type ApiRoute, defineRoute } from './api-route.ts';
import type { RunApi } from './run-api.ts';
import { conflict, requireExecutor, startOrder } from './start-order.ts';

const DAY_MS = 86_400_000;

/** The endpoints of schedules. */
export const SCHEDULE_ROUTES: readonly ApiRoute[] = [
  defineRoute({
    ...{ operationId: 'listSchedules', summary: 'The schedules of the home', method: 'GET', path: '/schedules' },
    query: z.strictObject({
      next: z.coerce.number().int().min(1).max(100).default(5).describe('number of planned times of each'),
      ...pageQuery,
    }),
    reply: scheduleList,
    async handle({ api: { home }, query }) {
      const all = (await listSchedules({ home, count: query.next })).toSorted((a, b) => (a.name < b.name ? -1 : 1));
      const { shown, next } = pageAfter(all, openPage('schedules', query), BY_NAME);
      return { schedules: shown.map(describeSchedule), ...next };
    },
  }),
  defineRoute({
    operationId: 'listPlannedTimes',
    summary: 'The planned times of a schedule, past and future, and their runs',
    ...{ method: 'GET', path: '/schedules/{name}/times' },
    query: z.strictObject({
      from: z.iso.datetime().exactOptional().describe('absent: 30 days ago'),
      to: z.iso.datetime().exactOptional().describe('absent: in 7 days'),
      recorded: z.stringbool().exactOptional().describe('true: only times with a run, and skipped ones'),
      ...pageQuery,
    }),
    reply: plannedTimeList,
    handle: ({ api, at: { name }, query }) =>
      describeTimes(api, { ...query, name }, openPage(`times of ${name}`, query)),
  }),
  changeRoute('pause', 'Start no more runs of a schedule', {
    effect: (name) => `pauses the schedule ${name}`,
    change: pauseSchedule,
  }),
  changeRoute('unpause', 'Start runs of a schedule again', {
    effect: (name) => `unpauses the schedule ${name}; planned times that passed meanwhile are not run`,
    change: unpauseSchedule,
  }),
  defineRoute({
    ...scheduleAction('run', 'Run the pipeline of a schedule now, with its recorded settings'),
    body: scheduleBody,
    async handle(request) {
      const { api, at, body } = request;
      const { file } = await requireSchedule(api, at.name);
      const start = { origin: { file, schedule: at.name }, reuse: false, from: [], params: {} };
      const order = await requireExecutor(api).createOrder(start);
      if (!order.ok) throw conflict(order.error);
      return startOrder(request, {
        order: start,
        dryRun: body.dryRun,
        words: [...orderWords(order.value), '--detach'],
      });
    },
  }),
  defineRoute({
    ...scheduleAction('backfill', 'Run planned times that were skipped or missed, one after the other'),
    body: backfillBody,
    handle: ({ api, at, body }) => backfill(api, at.name, body),
  }),
];

function scheduleAction(verb: string, summary: string) {
  return {
    ...{ operationId: `${verb}Schedule`, summary, method: 'POST' as const, path: `/schedules/{name}:${verb}` },
    query: z.strictObject({}),
    reply: actionReply,
  };
}

function changeRoute(
  verb: 'pause' | 'unpause',
  summary: string,
  given: { readonly effect: (name: string) => string; readonly change: typeof pauseSchedule },
): ApiRoute {
  return defineRoute({
    ...scheduleAction(verb, summary),
    body: scheduleBody,
    async handle({ api, at: { name }, body: { dryRun } }: ApiRequest<unknown, z.output<typeof scheduleBody>>) {
      await requireSchedule(api, name);
      const command = quoteCommand(['sluice', 'schedule', verb, name]);
      if (dryRun) return { dryRun, command, message: given.effect(name) };
      const done = await given.change({ home: api.home, name, by: api.userName });
      if (!done.ok) throw conflict(`could not ${verb} the schedule: ${done.error}`);
      return { dryRun, command, message: given.effect(name) };
    },
  });
}

async function backfill(api: RunApi, name: string, { from, to, dryRun }: z.output<typeof backfillBody>) {
  const { file } = await requireSchedule(api, name);
  requireExecutor(api);
  const range = { from: Date.parse(from), to: Date.parse(to) };
  const requested = await requestBackfill({ home: api.home, name, ...range, dryRun });
  if (!requested.ok) throw conflict(requested.error);
  const { planned, existing, timezone } = requested.value;
  const times = (count: number) => (count === 1 ? '1 planned time' : `${count} planned times`);
  const kept = existing.length === 0 ? '' : `; for ${times(existing.length)} there is a run already`;
  return {
    dryRun,
    command: quoteCommand(['sluice', 'schedule', 'backfill', renderRange(range, timezone), file]),
    message: `runs ${times(planned.length)}${planned.length > 1 ? ', one after the other' : ''}${kept}`,
    plannedAt: planned.map(toTime),
  };
}

async function describeTimes(
  api: RunApi,
  {
    name,
    ...query
  }: {
    readonly name: string;
    readonly from?: string;
    readonly to?: string;
    readonly recorded?: boolean;
  },
  page: Page,
): Promise<z.input<typeof plannedTimeList>> {
  await requireSchedule(api, name);
  const now = Date.now();
  const from = query.from === undefined ? now - 30 * DAY_MS : Date.parse(query.from);
  const to = query.to === undefined ? now + 7 * DAY_MS : Date.parse(query.to);
  const start = Math.max(from, page.start(z.int()) ?? from);
  const range = { from: start, to, limit: page.size + 1, onlyRecorded: query.recorded };
  const listed = await listPlannedTimes({ home: api.home, name, ...range });
  if (!listed.ok) throw conflict(`could not list the planned times: ${listed.error}`);
  const runs = new Map((await api.list.read()).map((run) => [run.runId, run]));
  const times = listed.value.slice(0, page.size).map((time): z.input<typeof plannedTime> => {
    const run = time.status === 'started' ? runs.get(time.runId) : undefined;
    return { ...describeTime(time), ...(run && { runStatus: run.status }) };
  });
  const next = listed.value[page.size];
  return { times, ...(next && { nextPageToken: page.tokenOf(next.planned) }) };
}

function describeTime(time: PlannedTimeReport): z.input<typeof plannedTime> {
  const { status, planned } = time;
  const shared = { plannedAt: toTime(planned), status };
  if (time.status === 'started') return { ...shared, runId: time.runId, isBackfill: time.cause === 'backfill' };
  return time.status === 'skipped' ? { ...shared, message: time.reason } : shared;
}

/** The schedule with its file. Throws `ApiError`. */
async function requireSchedule(api: RunApi, name: string): Promise<ScheduleSummary & { readonly file: string }> {
  const schedule = (await listSchedules({ home: api.home })).find((one) => one.name === name);
  if (schedule === undefined) throw new ApiError(404, 'SCHEDULE_NOT_FOUND', `this home has no schedule ${name}`);
  const { file } = schedule;
  if (file === undefined) throw conflict(`the file of the schedule ${name} is unknown until its next start`);
  return { ...schedule, file };
}

function describeSchedule({ name, file, settings, timezone, next, pausedAt }: ScheduleSummary) {
  return {
    ...{ name, timezone, nextAt: next.map(toTime) },
    ...(file !== undefined && { file }),
    ...(settings !== undefined && { settings }),
    ...(pausedAt !== undefined && { pausedAt: toTime(pausedAt) }),
  };
}
