import { resolve } from 'node:path';
import { fail, ok, type Result, writeValue } from '@sluice/core';
import {
  moveRun,
  placeOf,
  readCustody,
  readRun,
  readRunOrder,
  readRunSummary,
  readScheduleSettings,
  runCustody,
} from '@sluice/home';
import type { OpenHostedService, OrderPreview, RunExecutor, RunHost, StartRequest } from '@sluice/host';
import type { RunOrder, RunReport } from '@sluice/run';
import { deleteRuns, findOutsideOutput, previewReuse, resumeToCancel, sumUpPreview } from '@sluice/runner';
import { omitServiceVariables } from '../connect/hosted-options.ts';
import type { CommandContext, GlobalOptions } from '../context/command-context.ts';
import { wholeMessage } from '../context/command-rejection.ts';
import { createSecretReader } from '../home/create-secret-reader.ts';
import { selectHome } from '../home/home.ts';
import { loadPlan } from '../pipeline/load-plan.ts';
import { renderDiagnostics } from '../pipeline/print-diagnostics.ts';
import { createOrder, type OrderOptions, orderOptions } from '../runs/create-order.ts';
import { describeRejectedStart, prepareRun } from '../runs/prepare-run.ts';
import { readRunsElsewhere } from '../runs/read-runs-elsewhere.ts';
import { findHostedOptions } from './find-hosted-options.ts';
import { handOver } from './hand-over.ts';
import { listPipelines } from './list-pipelines.ts';
import { findFileFault, findParamsFault, findProject } from './requested-file.ts';
import { adviseUnrecorded, settingsToOptions } from './schedule-options.ts';
import { submitPrepared } from './submit-prepared.ts';

/** What executing runs by request of the run API depends on. */
export interface RunExecutorOptions {
  readonly home: string;
  readonly context: CommandContext;
  /** As the user has named the home. */
  readonly options: Pick<GlobalOptions, 'home'>;
  readonly host: RunHost;
  readonly openService: OpenHostedService;
}

/** Executes requests of the run API as the commands of the same name do. */
export function createRunExecutor(given: RunExecutorOptions): RunExecutor {
  return {
    resume: (runId, { cancelBy } = {}) =>
      cancelBy === undefined ? resume(runId, given) : cancel(runId, cancelBy, given),
    preview: (order) => preview(order, given),
    createOrder: (request) => createRequestedOrder(request, given),
    delete: (runId) => deleteRun(runId, given),
    listPipelines: () => listPipelines(given.home),
    start: (order, runId) => start(order, runId, given),
  };
}

async function resume(runId: string, { home, host }: RunExecutorOptions): Promise<Result<void, string>> {
  const moved = await moveRun({ home, runId }, 'detach', { options: { ...(await findHostedOptions(home, runId)) } });
  if (!moved.ok) return fail(`could not resume run ${runId}: ${moved.error}`);
  host.take(runId);
  return ok(undefined);
}

/** Resumes the run only to cancel it, which may take long. */
async function cancel(
  runId: string,
  cancelBy: string,
  { home, context, openService }: RunExecutorOptions,
): Promise<Result<void, string>> {
  const opened = await openService(await findHostedOptions(home, runId), context.env);
  if (!opened.ok) return opened;
  const secrets = createSecretReader(home, context.env);
  const { service, traces } = opened.value;
  const resumed = await resumeToCancel({ runId, home, secrets, service, cancelBy, ...(traces && { traces }) });
  return resumed.ok ? ok(undefined) : fail(resumed.error.message);
}

async function deleteRun(
  runId: string,
  { home, context, options, openService }: RunExecutorOptions,
): Promise<Result<boolean, string>> {
  const run = await readRunSummary(home, runId);
  if (run === undefined) return ok(false);
  if (run.endedAt === undefined) return fail(run.problem ?? 'it has not ended; cancel it first');
  const place = placeOf(await readCustody(runCustody(home, runId)));
  if (place !== undefined) return fail(`${place.service} has executed it; delete it with \`sluice delete ${runId}\``);
  const opened = await openService(await findHostedOptions(home, runId), context.env);
  if (!opened.ok) return opened;
  const readElsewhere = () => readRunsElsewhere({ opened: { home }, context, options });
  const deleted = await deleteRuns({ home, runIds: [runId], service: opened.value.service, readElsewhere });
  if (!deleted.ok) return fail(deleted.error.map(({ reason }) => reason).join('; '));
  const [problem] = deleted.value.problems;
  return problem === undefined ? ok(true) : fail(problem);
}

async function preview(order: StartRequest, given: RunExecutorOptions): Promise<Result<OrderPreview, string>> {
  const { home } = given;
  const found = await findCommand(order, given);
  if (!found.ok) return found;
  const { file, options } = found.value;
  const loaded = await loadPlan(file, { context: given.context, options });
  if (!loaded.ok) return fail(renderDiagnostics(loaded.error.diagnostics, loaded.error.texts));
  const { plan, baseDir } = loaded.value;
  const outside = await findOutsideOutput({ plan, baseDir, publishBelow: options.publishBelow });
  if (outside !== undefined) return fail(outside);
  const names = plan.steps.map(({ step }) => step.name);
  if (!order.reuse || !('rerunOf' in order.origin)) return ok({ reused: [], run: names });
  const reuse = { runId: order.origin.rerunOf, from: order.from };
  const previewed = await previewReuse({ plan, reuse, home, baseDir });
  if (!previewed.ok) return fail(previewed.error.message);
  return ok(sumUpPreview(previewed.value));
}

async function start(order: StartRequest, runId: string, given: RunExecutorOptions): Promise<Result<void, string>> {
  const known = await readRun(given.home, runId);
  if (known.ok) return complete(known.value, order, given);
  const found = await findCommand(order, given);
  if (!found.ok) return found;
  const { file, options } = found.value;
  const isReused = order.reuse && 'rerunOf' in order.origin;
  const request = {
    ...{ file, context: selectContext(order, given) },
    options: {
      ...{ ...options, runId },
      ...(isReused && 'rerunOf' in order.origin && { reuseFrom: order.origin.rerunOf, from: order.from }),
    },
  };
  const prepared = await prepareRun(request);
  if (!prepared.ok) return fail(describeRejectedStart(prepared.error));
  const submitted = await submitPrepared({ ...request, prepared: prepared.value });
  return submitted.ok ? ok(undefined) : fail(describeRejectedStart(submitted.error));
}

/** Hands a recorded run to the host if the first request was interrupted before it did that. */
async function complete(
  report: RunReport,
  order: StartRequest,
  given: RunExecutorOptions,
): Promise<Result<void, string>> {
  const { home } = given;
  const { runId, endedAt } = report;
  if (endedAt !== undefined || (await readCustody(runCustody(home, runId))).state !== 'free') return ok(undefined);
  const found = await findCommand(order, given);
  if (!found.ok) return found;
  const context = selectContext(order, given);
  const handed = await handOver(report, { home, runId, context, options: found.value.options });
  return handed.ok ? ok(undefined) : fail(wholeMessage(handed.error));
}

async function createRequestedOrder(
  request: StartRequest,
  given: RunExecutorOptions,
): Promise<Result<RunOrder, string>> {
  const found = await findCommand(request, given);
  if (!found.ok) return found;
  const { file, options } = found.value;
  return ok(
    createOrder(file, {
      params: { ...options.recordedParams, ...options.param },
      context: selectContext(request, given),
      options,
    }),
  );
}

/** Options of the command, and the limits of a request. */
interface RequestedOptions extends OrderOptions {
  readonly param: RunOrder['params'];
  readonly publishBelow?: string;
}

/** The file and the options of the command that starts the run. */
async function findCommand(
  request: StartRequest,
  { home, context, options }: RunExecutorOptions,
): Promise<Result<{ readonly file: string; readonly options: RequestedOptions }, string>> {
  const { origin, params } = request;
  const named = selectHome(options);
  const given = Object.fromEntries(Object.entries(params).map(([name, value]) => [name, writeValue(value)]));
  const project = findProject(home, context.cwd);
  const paramsFile = request.paramsFile === undefined ? undefined : resolve(context.cwd, request.paramsFile);
  const unreadable = paramsFile && (await findParamsFault(paramsFile, { home, project }));
  if (unreadable) return fail(unreadable);
  const inFile = paramsFile === undefined ? {} : { paramsFile };
  if ('file' in origin) {
    const file = resolve(context.cwd, origin.file);
    if (origin.schedule === undefined) {
      const fault = await findFileFault(file, { home, project });
      return fault === undefined
        ? ok({ file, options: { ...named, ...inFile, param: given, publishBelow: project } })
        : fail(fault);
    }
    // A file of a schedule or an earlier run was chosen with a command.
    const settings = await readScheduleSettings({ home, name: origin.schedule });
    if (settings === undefined) return fail(adviseUnrecorded(origin.schedule, file));
    const recorded = settingsToOptions(settings, named);
    return ok({ file, options: { ...recorded, param: { ...recorded.param, ...given } } });
  }
  const order = await readRunOrder(home, origin.rerunOf);
  if (order === undefined) {
    return fail(`could not rerun run ${origin.rerunOf}: a program or a server started it, not a command`);
  }
  const { stopAtApproval: _, param: recordedParams, ...recorded } = orderOptions(order);
  return ok({ file: order.file, options: { ...recorded, ...named, recordedParams, ...inFile, param: given } });
}

/** The service of a schedule, and of an earlier run, is the recorded one, whatever the variables of this process say. */
function selectContext({ origin }: StartRequest, { context }: Pick<RunExecutorOptions, 'context'>): CommandContext {
  const isRecorded = 'rerunOf' in origin || origin.schedule !== undefined;
  return isRecorded ? { ...context, env: omitServiceVariables(context.env) } : context;
}
