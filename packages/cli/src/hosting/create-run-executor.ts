import { resolve } from 'node:path';
import { fail, type Json, ok, type Result } from '@sluice/core';
import {
  markHosted,
  type OpenHostedService,
  type OrderPreview,
  type RunExecutor,
  type RunHost,
  type RunOrder,
} from '@sluice/host';
import { previewReuse, readRun, resumeRun, sumUpPreview } from '@sluice/runner';
import type { CommandContext, GlobalOptions } from '../context/command-context.ts';
import { createSecretReader } from '../home/create-secret-reader.ts';
import { loadPlan, type PipelineFileOptions } from '../pipeline/load-plan.ts';
import { type RecordedOptions, readRecordedCommand, recordCommand } from '../runs/recorded-command.ts';
import { findHostedOptions } from './find-hosted-options.ts';
import { findScheduleOptions } from './find-schedule-options.ts';
import { listPipelines } from './list-pipelines.ts';

/** What executing runs by request of the run API depends on. */
export interface RunExecutorOptions {
  readonly home: string;
  readonly context: CommandContext;
  readonly host: RunHost;
  readonly openService: OpenHostedService;
  /** `sluice run --detach` with this run ID; the host of this process takes the run. */
  readonly submit: (file: string, context: CommandContext, options: SubmitOptions) => Promise<number>;
}

/** Options of `sluice run`. */
export interface SubmitOptions extends GlobalOptions, PipelineFileOptions {
  readonly reuseFrom?: string;
  readonly force?: readonly string[];
  readonly detach: true;
  readonly runId: string;
}

/** Executes requests of the run API as the commands of the same name do. */
export function createRunExecutor(given: RunExecutorOptions): RunExecutor {
  return {
    resume: (runId, { cancelBy } = {}) =>
      cancelBy === undefined ? resume(runId, given) : cancel(runId, cancelBy, given),
    preview: (order) => preview(order, given),
    describeOrder: (order) => describeOrder(order, given),
    listPipelines: () => listPipelines(given.home),
    start: (order, runId) => start(order, runId, given),
  };
}

async function resume(runId: string, { home, host }: RunExecutorOptions): Promise<Result<void, string>> {
  await markHosted(home, runId, { options: await findHostedOptions(home, runId) });
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
  const resumed = await resumeRun({ runId, home, secrets, service, cancelBy, ...(traces && { traces }) });
  return resumed.ok ? ok(undefined) : fail(resumed.error.message);
}

async function preview(order: RunOrder, given: RunExecutorOptions): Promise<Result<OrderPreview, string>> {
  const { home } = given;
  const found = await findCommand(order, given);
  if (!found.ok) return found;
  const { file, options } = found.value;
  const { context, texts } = captureOutput(given.context);
  const loaded = await loadPlan(file, { context, options });
  if (!loaded.ok) {
    const { printDiagnostics } = await import('../pipeline/print-diagnostics.ts');
    printDiagnostics(loaded.error.diagnostics, loaded.error.texts, { context, options });
    return fail(texts.join('').trim());
  }
  const { plan, baseDir } = loaded.value;
  const names = plan.steps.map(({ step }) => step.name);
  if (!order.reuse || !('rerunOf' in order.origin)) return ok({ reused: [], run: names });
  const reuse = { runId: order.origin.rerunOf, force: order.from };
  const previewed = await previewReuse({ plan, reuse, home, baseDir });
  if (!previewed.ok) return fail(previewed.error.message);
  return ok(sumUpPreview(previewed.value));
}

async function start(order: RunOrder, runId: string, given: RunExecutorOptions): Promise<Result<void, string>> {
  if ((await readRun(given.home, runId)).ok) return ok(undefined);
  const found = await findCommand(order, given);
  if (!found.ok) return found;
  const { file, options } = found.value;
  const { context, texts } = captureOutput(given.context);
  const isReused = order.reuse && 'rerunOf' in order.origin;
  const exitCode = await given.submit(file, context, {
    ...options,
    ...(isReused && 'rerunOf' in order.origin && { reuseFrom: order.origin.rerunOf, force: order.from }),
    ...{ detach: true, runId },
  });
  return exitCode === 0 ? ok(undefined) : fail(texts.join('').trim());
}

async function describeOrder(order: RunOrder, given: RunExecutorOptions): Promise<Result<readonly string[], string>> {
  const found = await findCommand(order, given);
  return found.ok
    ? ok(recordCommand(found.value.file, { context: given.context, options: found.value.options }))
    : found;
}

/** The file and the options of the command that starts the run. */
async function findCommand(
  { origin, params }: RunOrder,
  { home, context }: RunExecutorOptions,
): Promise<Result<{ readonly file: string; readonly options: RecordedOptions }, string>> {
  const given = Object.fromEntries(Object.entries(params).map(([name, value]) => [name, renderParam(value)]));
  if ('file' in origin) {
    const known = origin.schedule === undefined ? {} : await findScheduleOptions(home, origin.schedule);
    const { stopAtApproval: _, ...options } = known;
    const file = resolve(context.cwd, origin.file);
    return ok({ file, options: { ...options, home, param: { ...options.param, ...given } } });
  }
  const report = await readRun(home, origin.rerunOf);
  if (!report.ok) return fail(report.error.message);
  const { rerun } = report.value;
  if (rerun === undefined) {
    return fail(`could not rerun run ${origin.rerunOf}: a program or a server started it, not a command`);
  }
  const { stopAtApproval: _, ...recorded } = readRecordedCommand(rerun).options;
  const { file } = readRecordedCommand(rerun);
  return ok({ file, options: { ...recorded, home, param: { ...recorded.param, ...given } } });
}

/** As it is written after `-p NAME=`. */
function renderParam(value: Json): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/** A context whose errors are collected, for the reply. */
function captureOutput(context: CommandContext): {
  readonly context: CommandContext;
  readonly texts: readonly string[];
} {
  const texts: string[] = [];
  const terminal = {
    ...context.terminal,
    ...{ color: false, live: false, interactive: false },
    style: (_: unknown, text: string) => text,
    out: () => {},
    err: (text: string) => void texts.push(text),
  };
  return { context: { ...context, terminal }, texts };
}
