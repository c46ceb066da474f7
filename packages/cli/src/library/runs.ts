import { userInfo } from 'node:os';
import { ok, requireArgument } from '@sluice/core';
import {
  approveRun as approveOfRunner,
  explainStep as explainOfRunner,
  listRuns as listOfRunner,
  pullOutput as pullOfRunner,
  type ReportFiles,
  type RunReport,
  type RunSummary,
  readRun as readOfRunner,
  reportRun as reportOfRunner,
  type StepExplanation,
} from '@sluice/runner';
import { findHome } from '../home/home.ts';
import { type Connection, openEmbeddedService } from './connection.ts';
import { attempt, unwrap } from './error-code.ts';

/** The home whose runs are meant; default: the nearest `.sluice`, as for the command. */
export interface HomeOptions {
  readonly home?: string;
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
  return unwrap(await attempt(async () => ok(await listOfRunner(homeOf(options)))));
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
  requireRunId('readRun', runId);
  return unwrap(await attempt(() => readOfRunner(homeOf(options), runId)));
}

/**
 * Why a step, or one cell of it (`step/cell`), waits, failed, was skipped or was not reused. Throws `SluiceError`.
 *
 * @example
 * ```ts
 * import { explainStep } from 'sluice';
 *
 * const { state, reason } = await explainStep('3o75', 'fit/model-a');
 * console.log(state, reason);
 * ```
 */
export async function explainStep(runId: string, step: string, options: HomeOptions = {}): Promise<StepExplanation> {
  requireRunId('explainStep', runId);
  return unwrap(await attempt(() => explainOfRunner({ home: homeOf(options), runId, step })));
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
  requireRunId('reportRun', runId);
  const { to } = options;
  const given = { home: homeOf(options), runId, ...(to !== undefined && { to }) };
  return unwrap(await attempt(() => reportOfRunner(given))).files;
}

/**
 * Approves or rejects a step of any run of the home, wherever it is executed. If no process executes the run, the answer
 * applies when it is resumed. Throws `SluiceError`, for example `NOT_ASKED`.
 *
 * @example
 * ```ts
 * import { approveRun } from 'sluice';
 *
 * await approveRun('3o75', 'release', { approved: false, by: 'ada' });
 * ```
 */
export async function approveRun(
  runId: string,
  step: string,
  options: HomeOptions & { readonly approved?: boolean; readonly by?: string } = {},
): Promise<void> {
  requireRunId('approveRun', runId);
  const { approved = true, by = userInfo().username } = options;
  unwrap(await attempt(() => approveOfRunner(homeOf(options), { runId, step, approved, by })));
}

/**
 * Copies one of the outputs of a run to the local directory `to`, which is replaced as a whole. Returns warnings, for
 * example about skipped links. Throws `SluiceError`, for example `TARGET_REFUSED` if `to` holds other files.
 *
 * @example
 * ```ts
 * import { pullOutput } from 'sluice';
 *
 * await pullOutput('3o75', 'model', { to: './model' });
 * ```
 */
export async function pullOutput(
  runId: string,
  output: string,
  options: HomeOptions & { readonly to: string; readonly service?: Connection },
): Promise<readonly string[]> {
  requireRunId('pullOutput', runId);
  const home = homeOf(options);
  const opened = options.service ?? (await openEmbeddedService({ home }));
  try {
    return unwrap(await attempt(() => pullOfRunner({ home, runId, output, to: options.to, service: opened.service })));
  } finally {
    if (options.service === undefined) await opened.close();
  }
}

function homeOf({ home }: HomeOptions): string {
  return findHome({ env: process.env, cwd: process.cwd() }, home === undefined ? {} : { home });
}

function requireRunId(name: string, runId: unknown): void {
  requireArgument(typeof runId === 'string' && runId !== '', `${name}: the ID of the run must be a string`);
}
