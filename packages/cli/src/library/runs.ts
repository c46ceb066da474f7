import { userInfo } from 'node:os';
import { ok } from '@sluice/core';
import {
  createSystemDisk,
  explainStep as explainOfRunner,
  findRunId,
  listRuns as listOfRunner,
  type ReportFiles,
  readRun as readOfRunner,
  reportRun as reportOfRunner,
} from '@sluice/home';
import type { RunReport, RunSummary, StepExplanation } from '@sluice/run';
import { approveRun as approveOfRunner, cancelRun as cancelOfRunner, requestCancel } from '@sluice/runner';
import { createSecretReader } from '../home/create-secret-reader.ts';
import { takeRun } from '../home/take-run.ts';
import { actOnServer, isOnServer } from './act-on-server.ts';
import { type Connection, withServiceOf } from './connection.ts';
import { attempt, unwrap } from './error-code.ts';
import { findRun } from './find-run.ts';
import { homeOf } from './home-of.ts';
import { OPTIONS, readArgument, TEXT } from './read-options.ts';

/** The home whose runs are meant; default: the nearest `.sluice`, as for the command. */
export interface HomeOptions {
  readonly home?: string;
}

/** Which run a function changes, and in whose name. */
export interface ChangeOptions extends HomeOptions {
  /** The service of the run; if its server executes runs, also runs are found there that the home does not have. */
  readonly service?: Connection;
  /** As for `openService`. */
  readonly profile?: string;
  /** Who changes the run. Default: the user of this process, on a server that of the login. */
  readonly by?: string;
}

/**
 * The runs of a home, newest first.
 *
 * @example
 * ```ts
 * import { listRuns } from 'sluice';
 *
 * for (const { runId, pipeline, status } of await listRuns()) console.log(runId, pipeline, status);
 * ```
 */
export async function listRuns(options: HomeOptions = {}): Promise<readonly RunSummary[]> {
  const home = homeOf(readArgument('listRuns', OPTIONS.home, options));
  return unwrap(await attempt(async () => ok(await listOfRunner(home))));
}

/**
 * The state of a run as its journal records it, during the run or after it. `runId` may be shortened. Throws `SluiceError`.
 *
 * @example
 * ```ts
 * import { readRun } from 'sluice';
 *
 * const { status, failures } = await readRun('3o75');
 * console.log(status, failures.length);
 * ```
 */
export async function readRun(runId: string, options: HomeOptions = {}): Promise<RunReport> {
  readArgument('readRun: run', TEXT, runId);
  const home = homeOf(readArgument('readRun', OPTIONS.home, options));
  return unwrap(await attempt(() => readOfRunner(home, runId)));
}

/**
 * Why a step, or one cell of it (`step/cell`), waits, failed, was skipped or was not reused. Throws `SluiceError`.
 *
 * @example
 * ```ts
 * import { explainStep } from 'sluice';
 *
 * const { status, message } = await explainStep('3o75', 'fit/model-a');
 * console.log(status, message);
 * ```
 */
export async function explainStep(runId: string, step: string, options: HomeOptions = {}): Promise<StepExplanation> {
  readArgument('explainStep: run', TEXT, runId);
  readArgument('explainStep: step', TEXT, step);
  const home = homeOf(readArgument('explainStep', OPTIONS.home, options));
  return unwrap(await attempt(() => explainOfRunner({ home, runId, step })));
}

/**
 * Writes the report of a run, a page, a table and data, to `to` (default: the run's directory), and returns the absolute
 * paths of the files. Throws `SluiceError`.
 *
 * @example
 * ```ts
 * import { reportRun } from 'sluice';
 *
 * const files = await reportRun('3o75', { to: './report' });
 * console.log(files.page);
 * ```
 */
export async function reportRun(
  runId: string,
  options: HomeOptions & { readonly to?: string } = {},
): Promise<ReportFiles> {
  readArgument('reportRun: run', TEXT, runId);
  const { to, ...where } = readArgument('reportRun', OPTIONS.report, options);
  const given = { home: homeOf(where), runId, ...(to !== undefined && { to }) };
  return unwrap(await attempt(() => reportOfRunner(given))).files;
}

/**
 * Approves a step of any run of the home, wherever it is executed, or of a run of the service's server. If no process executes
 * the run, the answer applies when it is resumed. Throws `SluiceError`, for example `NOT_ASKED`.
 *
 * @example
 * ```ts
 * import { approveRun } from 'sluice';
 *
 * await approveRun('3o75', 'release', { by: 'ada' });
 * ```
 */
export function approveRun(runId: string, step: string, options: ChangeOptions = {}): Promise<void> {
  return answerRun('approve', { runId, step, options });
}

/**
 * Rejects a step that waits for approval, as `approveRun`: the step fails.
 *
 * @example
 * ```ts
 * import { rejectRun } from 'sluice';
 *
 * await rejectRun('3o75', 'release', { by: 'ada' });
 * ```
 */
export function rejectRun(runId: string, step: string, options: ChangeOptions = {}): Promise<void> {
  return answerRun('reject', { runId, step, options });
}

async function answerRun(
  verb: 'approve' | 'reject',
  { runId, step, options }: { runId: string; step: string; options: ChangeOptions },
): Promise<void> {
  readArgument(`${verb}Run: run`, TEXT, runId);
  readArgument(`${verb}Run: step`, TEXT, step);
  const { by, ...choice } = readArgument(`${verb}Run`, OPTIONS.change, options);
  const run = unwrap(await attempt(() => findRun(runId, choice)));
  const approved = verb === 'approve';
  const answer = { runId: run.runId, step, approved, by: by ?? userInfo().username };
  const given = { step, ...(by !== undefined && { by }) };
  if (isOnServer(run)) return actOnServer({ ...choice, ...run }, verb, given);
  unwrap(await attempt(() => approveOfRunner(run.home, answer)));
}

/**
 * Has no process execute a run, also one of another program, of a terminal or of the background: its containers keep running,
 * and no other step starts until it is resumed. Returns whether a process executed it. Throws `SluiceError`.
 *
 * @example
 * ```ts
 * import { resume, suspendRun } from 'sluice';
 *
 * await suspendRun('3o75');
 * const here = await resume('3o75');
 * console.log((await here.finished).status);
 * ```
 */
export async function suspendRun(runId: string, options: HomeOptions = {}): Promise<boolean> {
  readArgument('suspendRun: run', TEXT, runId);
  const home = homeOf(readArgument('suspendRun', OPTIONS.home, options));
  return unwrap(
    await attempt(async () => {
      const found = await findRunId(createSystemDisk(), home, runId);
      return found.ok ? takeRun(home, { runId: found.value, of: 'any', verb: 'suspend' }) : found;
    }),
  );
}

/**
 * Cancels a run of the home or of the service's server, and its containers; `finally` steps still run. Resolves as soon as
 * the process that executes it has recorded the request; if there is none, at the end of the run, which this program executes
 * until then. On a server, the run is canceled by the user of the login, whatever `by` says. Throws `SluiceError`, for example `RUN_FINISHED`.
 *
 * @example
 * ```ts
 * import { cancelRun, listRuns } from 'sluice';
 *
 * for (const { runId, endedAt } of await listRuns()) if (endedAt === undefined) await cancelRun(runId);
 * ```
 */
export async function cancelRun(id: string, options: ChangeOptions = {}): Promise<void> {
  readArgument('cancelRun: run', TEXT, id);
  const { by = userInfo().username, ...choice } = readArgument('cancelRun', OPTIONS.change, options);
  const run = unwrap(await attempt(() => findRun(id, choice)));
  if (isOnServer(run)) return actOnServer({ ...choice, ...run }, 'cancel');
  const { home, runId } = run;
  const requested = unwrap(await attempt(() => requestCancel({ home, runId, by })));
  if (requested.isExecuted) return;
  const secrets = createSecretReader(home, process.env);
  await withServiceOf(runId, choice, async (service) =>
    unwrap(await attempt(() => cancelOfRunner({ home, runId, by, secrets, service }))),
  );
}
