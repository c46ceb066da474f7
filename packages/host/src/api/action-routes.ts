import type { RunFollower } from '@sluice/home';
import { findApprovals, type RunFacts, splitCellName, stepIndex } from '@sluice/run';
import { approveRun, requestCancel } from '@sluice/runner';
import { z } from 'zod';
import { ApiError, fromRunError } from '../errors/api-error.ts';
import { quoteCommand } from '../runs/describe-run.ts';
import { ACTION_BODIES, actionReply, submitBody } from '../schemas/actions.ts';
import { type ApiRequest, type ApiRoute, defineRoute } from './api-route.ts';
import type { RunApi, StartRequest } from './run-api.ts';
import { conflict, requireExecutor, startOrder, valueWords } from './start-order.ts';

type Reply = z.input<typeof actionReply>;

/** The endpoints that start runs or change them. */
export const ACTION_ROUTES: readonly ApiRoute[] = [
  defineRoute({
    ...action('cancel', 'Cancel a run; `finally` steps still run'),
    body: ACTION_BODIES.cancel,
    handle: cancel,
  }),
  defineRoute({
    ...action('approve', 'Approve a step that waits for approval'),
    body: ACTION_BODIES.approve,
    handle: (request) => approve(request, true),
  }),
  defineRoute({
    ...action('reject', 'Reject a step that waits for approval'),
    body: ACTION_BODIES.reject,
    handle: (request) => approve(request, false),
  }),
  defineRoute({
    ...action('resume', 'Continue a suspended run'),
    body: ACTION_BODIES.resume,
    handle: resume,
  }),
  defineRoute({
    ...action(
      'rerun',
      'Start the pipeline of an ended run again: whole, what has failed, from a step, or with other parameters',
    ),
    body: ACTION_BODIES.rerun,
    handle: rerun,
  }),
  defineRoute({
    ...{ operationId: 'submitRun', summary: 'Run a pipeline file of this machine', method: 'POST', path: '/runs' },
    query: z.strictObject({}),
    body: submitBody,
    reply: actionReply,
    handle: (request) => {
      const { file, dryRun, ...given } = request.body;
      const order = { origin: { file }, reuse: false, from: [], ...given };
      return startOrder(request, { order, dryRun, words: ['run', file, '--detach', ...valueWords(given)] });
    },
  }),
];

function action(name: string, summary: string) {
  const path = `/runs/{runId}:${name}`;
  return {
    operationId: `${name}Run`,
    summary,
    method: 'POST' as const,
    path,
    query: z.strictObject({}),
    reply: actionReply,
  };
}

type Body<T = object> = ApiRequest<unknown, T & { dryRun: boolean }>;

async function cancel({ api, at: { runId }, body: { dryRun } }: Body): Promise<Reply> {
  const run = await requireUnfinished(api, runId, 'cancel');
  const { running = 0 } = run.model.counts();
  const message = `cancels the run with ${running} running containers; \`finally\` steps still run`;
  const reply = { runId, dryRun, command: quoteCommand(['sluice', 'cancel', runId]), message };
  if (dryRun) return reply;
  const requested = await requestCancel({ home: api.home, runId, by: api.userName });
  if (!requested.ok) throw fromRunError(requested.error);
  if (requested.value.isExecuted) return reply;
  const resumed = await requireExecutor(api).resume(runId, { cancelBy: api.userName });
  if (!resumed.ok) throw conflict(`could not cancel run ${runId}: ${resumed.error}`);
  return reply;
}

async function approve(
  { api, at: { runId }, body }: Body<{ step: string; by?: string }>,
  approved: boolean,
): Promise<Reply> {
  const { step, dryRun, by = api.userName } = body;
  const verb = approved ? 'approve' : 'reject';
  const run = await requireUnfinished(api, runId, verb);
  const words = ['sluice', approved ? 'approve' : 'reject', '-r', runId, step];
  const effect = approved ? 'steps that depend on it can start' : 'the step fails';
  const reply = { runId, dryRun, command: quoteCommand(words), message: `${verb}s ${step}: ${effect}` };
  const { facts, scheduler } = run.model;
  requireCell(facts, step, runId);
  if (findApprovals({ plan: facts.plan, facts, scheduler }, step).length === 0) {
    throw new ApiError(409, 'NOT_ASKED', `could not ${verb} ${step}: the step does not wait for approval`);
  }
  if (dryRun) return reply;
  const answered = await approveRun(api.home, { runId, step, approved, by });
  if (!answered.ok) throw fromRunError(answered.error);
  const advice = answered.value.isApplied ? '' : '; no process executes the run: resume it';
  return { ...reply, message: `${reply.message}${advice}` };
}

async function resume({ api, at: { runId }, body: { dryRun } }: Body): Promise<Reply> {
  const run = await requireUnfinished(api, runId, 'resume');
  if (run.phase !== 'suspended') throw conflict(`could not resume run ${runId}: a process executes it`);
  const command = quoteCommand(['sluice', 'resume', runId]);
  const reply = { runId, dryRun, command, message: 'continues the run; containers that are still running are adopted' };
  const executor = requireExecutor(api);
  if (dryRun) return reply;
  const resumed = await executor.resume(runId);
  if (!resumed.ok) throw conflict(`could not resume run ${runId}: ${resumed.error}`);
  return reply;
}

async function rerun(request: ApiRequest<unknown, z.output<typeof ACTION_BODIES.rerun>>): Promise<Reply> {
  const { api, at, body } = request;
  const { all, from = [], params = {}, paramsFile, dryRun } = body;
  const given = { params, ...(paramsFile !== undefined && { paramsFile }) };
  const { phase, model } = await api.followers.read(at.runId);
  if (!model.facts.finished) throw conflict(`could not rerun run ${at.runId}: it has not ended (${phase})`);
  for (const name of from) requireCell(model.facts, name, at.runId);
  const options = all ? ['--all'] : from.flatMap((name) => ['--from', name]);
  const order: StartRequest = { origin: { rerunOf: at.runId }, reuse: !all, from, ...given };
  const place = api.serviceUrl === undefined ? [] : ['--service', api.serviceUrl, '--detach'];
  return startOrder(request, {
    order,
    dryRun,
    words: ['rerun', at.runId, ...options, ...valueWords(given), ...place],
  });
}

function requireCell({ plan, cells }: RunFacts, name: string, runId: string): void {
  const { step, cell } = splitCellName(name);
  const index = stepIndex(plan, step);
  if (index === undefined) throw new ApiError(404, 'STEP_NOT_FOUND', `run ${runId} has no step ${step}`);
  if (cell === undefined || cells[index]?.some(({ key }) => key === cell)) return;
  throw new ApiError(404, 'CELL_NOT_FOUND', `step ${step} of run ${runId} has no cell ${cell}`);
}

async function requireUnfinished(api: RunApi, runId: string, verb: string): Promise<RunFollower> {
  const run = await api.followers.read(runId);
  const { finished } = run.model.facts;
  if (finished)
    throw new ApiError(409, 'RUN_FINISHED', `could not ${verb} run ${runId}: it has ended (${finished.status})`);
  return run;
}
