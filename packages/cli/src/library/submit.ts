import { type CheckedPipeline, type Diagnostic, fail, ok, type Result, SluiceError } from '@sluice/core';
import { type HomeService, openService } from '../connect/open-service.ts';
import { hostRun } from '../hosting/host-run.ts';
import { submitOrRecord } from '../hosting/submit-prepared.ts';
import type { HandedRun } from '../runs/handed-run.ts';
import type { RejectedStart } from '../runs/prepare-run.ts';
import { prepareOwnHome, runServerOf } from './connection.ts';
import { attempt, type SluiceErrorCode, unwrap } from './error-code.ts';
import { fromCommandError } from './from-command-error.ts';
import { prepareSubmission, type Submission } from './prepare-submission.ts';
import { OPTIONS, readArgument } from './read-options.ts';
import type { Runnable, SubmitOptions } from './run-options.ts';
import type { DeclaredResults } from './run-result.ts';

/** A run that continues without this program. `attach` follows it to its end. */
export interface SubmittedRun {
  readonly runId: string;
  /** What executes it; `none` if it has ended already. */
  readonly executor: 'server' | 'host' | 'none';
  /** The process in the background; only for `host`. */
  readonly hostPid?: number;
  /** The page of the run, else the address of the server; only for `server`. */
  readonly url?: string;
}

/**
 * Starts a run that continues when this program has ended, as `sluice run --detach` does: the server of the service executes
 * it, if it executes runs, else a process in the background, which is started if there is none. `attach` follows the run.
 * With `service`, only its server may execute the run: a process in the background opens a service by itself, by `profile`.
 * Throws `SluiceError`; then nothing was started, unless the message says that this is unknown or what continues the run.
 *
 * @example
 * ```ts
 * import { attach, pipeline, submit } from 'sluice';
 *
 * const p = pipeline('nightly');
 * p.step('train', { command: ['python3', 'train.py'] });
 * const { runId } = await submit(p, { profile: 'cluster' });
 * const { status } = await (await attach(runId)).finished;
 * console.log(runId, status);
 * ```
 */
export async function submit<P, R = DeclaredResults>(
  given: Runnable<P, R> | CheckedPipeline,
  options: SubmitOptions<P> = {},
): Promise<SubmittedRun> {
  return unwrap(await safeSubmit(given, options));
}

/**
 * Like `submit`, but returns the error.
 *
 * @example
 * ```ts
 * import { pipeline, safeSubmit } from 'sluice';
 *
 * const p = pipeline('nightly');
 * p.step('train', { command: ['python3', 'train.py'] });
 * const submitted = await safeSubmit(p);
 * if (submitted.ok) console.log(submitted.value.runId);
 * else console.error(submitted.error.code, submitted.error.message);
 * ```
 */
export function safeSubmit<P, R = DeclaredResults>(
  given: Runnable<P, R> | CheckedPipeline,
  options: SubmitOptions<P> = {},
): Promise<Result<SubmittedRun, SluiceError<SluiceErrorCode>>> {
  return attempt(async () => ok(await submitGiven(given, options)));
}

async function submitGiven<P>(given: unknown, options: SubmitOptions<P>): Promise<SubmittedRun> {
  const read: SubmitOptions<unknown> = readArgument('submit', OPTIONS.submit, options);
  const submission = unwrap(await attempt(() => prepareSubmission(given, read)));
  const opened = unwrap(await attempt(() => openForSubmission(read, submission)));
  const submitted = await attempt(() => rejectStart(submitOrRecord(opened, submission))).finally(() => opened.close());
  const run = unwrap(submitted);
  // The host opens the service after this process has closed it.
  return describe(
    'handed' in run ? run.handed : unwrap(await attempt(() => rejectStart(hostRun({ ...run, ...submission })))),
  );
}

/** The service of the home, or the given one, which stays open. */
async function openForSubmission(
  { home, service }: SubmitOptions<unknown>,
  { context, options }: Submission,
): Promise<Result<HomeService, SluiceError<SluiceErrorCode>>> {
  if (service === undefined) {
    const opened = await openService(options, context);
    return opened.ok ? opened : fail(fromCommandError(opened.error, 'SERVICE_UNUSABLE'));
  }
  const prepared = await prepareOwnHome(home);
  if (!prepared.ok) return prepared;
  const runServer = runServerOf(service);
  if (runServer !== undefined && (await runServer.isAvailable()))
    return ok({ ...service, home: prepared.value, runServer, close: async () => {} });
  const message =
    'could not submit the run: the given service executes no runs; leave it out, or name a profile, to have a process in the background execute the run';
  return fail(new SluiceError('SERVICE_UNUSABLE', message));
}

async function rejectStart<T>(
  started: Promise<Result<T, RejectedStart>>,
): Promise<Result<T, SluiceError<SluiceErrorCode> | readonly Diagnostic[]>> {
  const result = await started;
  if (result.ok) return result;
  const { rejected } = result.error;
  return fail(rejected?.diagnostics ?? fromCommandError(result.error, 'SERVICE_REJECTED'));
}

function describe({ runId, ...handed }: HandedRun): SubmittedRun {
  const { to: executor } = handed;
  if (handed.to === 'host') return { runId, executor, hostPid: handed.pid };
  return handed.to === 'server' ? { runId, executor, url: handed.page ?? handed.url } : { runId, executor };
}
