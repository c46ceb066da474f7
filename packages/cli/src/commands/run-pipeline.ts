import type { Result } from '@sluice/core';
import { describeJob, readJobEnvironment } from '@sluice/host-system';
import type { Reuse } from '@sluice/run';
import { startRun } from '@sluice/runner';
import type { HomeService } from '../connect/open-service.ts';
import type { CommandContext } from '../context/command-context.ts';
import { holdSignals } from '../context/hold-signals.ts';
import { fromRunError, reject } from '../context/reject.ts';
import { printDiagnostics } from '../pipeline/print-diagnostics.ts';
import type { Progress } from '../render/plain-progress.ts';
import { findUnknownIn } from '../runs/find-unknown-in.ts';
import type { FollowOptions } from '../runs/follow-options.ts';
import type { HandedRun, RunInJob } from '../runs/handed-run.ts';
import type { JobHandover } from '../runs/job-handover.ts';
import type { ServerService } from '../runs/order-run.ts';
import {
  type PreparedRun,
  prepareRun,
  printRejectedStart,
  type RejectedStart,
  type StartOptions,
} from '../runs/prepare-run.ts';
import { startOptions } from '../runs/start-options.ts';

/** Options of `sluice run`. */
export interface RunPipelineOptions extends StartOptions, FollowOptions {
  /** Have the run executed by a process in the background, or by the server of its service. */
  readonly detach?: boolean;
  /** Have the run executed by a job of Slurm. */
  readonly asJob?: boolean;
  /** Continue the run in the next start of the job of Slurm in which this process runs. */
  readonly resubmit?: boolean;
}

interface Request {
  readonly file: string;
  readonly context: CommandContext;
  readonly options: RunPipelineOptions;
  readonly handover?: JobHandover;
}

/**
 * `sluice run`: checks the file, starts nothing if it has errors, and otherwise follows the run until it ends or is
 * detached. A server that executes runs executes this one, too.
 */
export async function runPipeline(file: string, context: CommandContext, options: RunPipelineOptions): Promise<number> {
  if (options.resubmit === true) return runInJob({ file, context, options });
  return runRequest({ file, context, options });
}

/** Continues the run that an earlier start of the job has left; if there is none, starts one. */
async function runInJob({ file, context, options }: Request): Promise<number> {
  const { withHandover } = await import('../runs/job-handover.ts');
  return withHandover({ context, options }, (handover) => {
    const label = { ...options.label, ...handover.label };
    return runRequest({ file, context, options: { ...options, label, here: true }, handover });
  });
}

async function runRequest(request: Request): Promise<number> {
  const { context, options, handover } = request;
  const found = await prepareRun(request);
  if (!found.ok) return printRejectedStart(found.error, request);
  const prepared = found.value;
  const { warnings, texts } = prepared.loaded;
  printDiagnostics(warnings, texts, request);
  if (options.detach === true || options.asJob === true) return submit(prepared, request);
  if (handover?.isRestart === true) {
    const { continueRunOfJob } = await import('./continue-run-of-job.ts');
    const exitCode = await continueRunOfJob(prepared, { ...request, handover });
    if (exitCode !== undefined) return exitCode;
  }
  const { withService } = await import('../connect/with-service.ts');
  return withService({ context, options, startsContainers: true }, (opened) => run(prepared, opened, request));
}

async function run(prepared: PreparedRun, opened: HomeService, request: Request): Promise<number> {
  const { context, options, handover } = request;
  const unknown = await findUnknownIn(prepared.loaded.plan, opened);
  if (unknown !== undefined) return reject(unknown, request);
  if (opened.runServer !== undefined) {
    const { findExecutingServer } = await import('../runs/order-run.ts');
    const server = await findExecutingServer(opened, options);
    if (server !== undefined) return runOnServer(prepared, server, request);
  }
  const { followRun } = await import('../runs/follow-run.ts');
  const progress = await openProgress(prepared, request);
  const job = opened.engine === 'slurm-job' ? readJobEnvironment(context.env) : undefined;
  if (job !== undefined) progress.print(`using ${describeJob(job)}`);
  const start = await startOptions(prepared, opened, request);
  const held = holdSignals(context);
  try {
    const started = await startRun({ ...start, reporter: progress });
    if (started.ok) return await followRun(started.value, { context: held.context, progress, options, handover });
    progress.close();
    const { loginAdvice } = opened;
    return reject(fromRunError(started.error, { options, loginAdvice }), request);
  } finally {
    held.release();
  }
}

/** Orders the run from the server of the service, and follows it there. */
async function runOnServer(prepared: PreparedRun, opened: ServerService, request: Request): Promise<number> {
  const [{ orderRun }, { followOnServer }] = await Promise.all([
    import('../runs/order-run.ts'),
    import('../runs/follow-on-server.ts'),
  ]);
  const ordered = await orderRun(opened, { ...request, prepared, openProgress: () => openProgress(prepared, request) });
  if (!ordered.ok) return printRejectedStart(ordered.error, request);
  return followOnServer(opened, { runId: ordered.value.runId, ...request });
}

async function submit(prepared: PreparedRun, request: Request): Promise<number> {
  const { announceHanded } = await import('../runs/handed-run.ts');
  const submission = { ...request, prepared, openProgress: () => openProgress(prepared, request) };
  const handed: Result<HandedRun | RunInJob, RejectedStart> =
    request.options.asJob === true
      ? await import('../hosting/submit-as-job.ts').then(({ submitAsJob }) => submitAsJob(submission))
      : await import('../hosting/submit-prepared.ts').then(({ submitPrepared }) => submitPrepared(submission));
  return handed.ok ? announceHanded(handed.value, request) : printRejectedStart(handed.error, request);
}

/** The display that receives the events of the run, or of its start. */
async function openProgress({ reuse }: PreparedRun, { context, options }: Request): Promise<Progress> {
  const { createProgress } = await import('../render/create-progress.ts');
  const progress = createProgress(context.terminal, options);
  if (reuse) progress.print(describeReuse(reuse));
  return progress;
}

function describeReuse({ runId, from }: Reuse): string {
  const rerun = from.length === 0 ? '' : `; rerunning ${from.join(', ')} and all dependents`;
  return `reusing successful, unchanged steps of run ${runId}${rerun}`;
}
