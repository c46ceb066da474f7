import { type Diagnostic, fail, ok, type Result } from '@sluice/core';
import type { Reuse } from '@sluice/run';
import { findMissingSources } from '@sluice/runner';
import type { CommandContext } from '../context/command-context.ts';
import { type CommandError, wholeMessage } from '../context/command-rejection.ts';
import { EXIT_CODE, type ExitCode } from '../context/exit-code.ts';
import { reject } from '../context/reject.ts';
import { checkImages } from '../pipeline/check-images.ts';
import { type LoadedPlan, loadPlan, type RejectedFile } from '../pipeline/load-plan.ts';
import { locateFaults } from '../pipeline/locate-faults.ts';
import { countDiagnostics, printDiagnostics, renderDiagnostics } from '../pipeline/print-diagnostics.ts';
import type { OrderOptions } from './create-order.ts';
import { findReuse, type ReuseOptions } from './find-reuse.ts';

/** What `sluice run` and the run API start a run with. */
export interface RunRequest {
  readonly file: string;
  readonly context: CommandContext;
  readonly options: StartOptions;
}

/** The options of `sluice run` without those of its output. */
export interface StartOptions extends ReuseOptions, OrderOptions {
  /** Default: a new one. */
  readonly runId?: string;
  /** The run is rejected if it publishes elsewhere. */
  readonly publishBelow?: string;
}

/** A run whose file has no errors, before a service is opened. */
export interface PreparedRun {
  readonly loaded: LoadedPlan;
  readonly reuse?: Reuse;
}

/** Why a run is not started. `rejected`: the errors of its file, and its warnings. */
export interface RejectedStart extends CommandError {
  readonly rejected?: Pick<RejectedFile, 'diagnostics' | 'texts'>;
}

/** Plans a run and finds what is wrong with it on this machine. Starts and prints nothing. */
export async function prepareRun({ file, context, options }: RunRequest): Promise<Result<PreparedRun, RejectedStart>> {
  const loaded = await loadPlan(file, { context, options });
  if (!loaded.ok) return fail(rejectFile(file, loaded.error));
  const { plan } = loaded.value;
  const faults = await findSourceFaults(loaded.value);
  if (faults.length > 0) return fail(rejectLoaded(file, { loaded: loaded.value, faults }));
  const images = await checkImages(plan, { context, options });
  if (!images.ok) return images;
  const reuse = await findReuse(plan, { context, options });
  return reuse.ok ? ok({ loaded: loaded.value, ...reuse.value }) : reuse;
}

/** Rejects a file that could be planned, for errors that only its start finds. */
export function rejectLoaded(
  file: string,
  { loaded: { texts }, faults }: { readonly loaded: LoadedPlan; readonly faults: readonly Diagnostic[] },
): RejectedStart {
  return rejectFile(file, { diagnostics: faults, texts });
}

function rejectFile(file: string, { diagnostics, texts }: Pick<RejectedFile, 'diagnostics' | 'texts'>): RejectedStart {
  const message = `${countDiagnostics(diagnostics)} in ${file}; nothing was started`;
  return { exitCode: EXIT_CODE.rejected, message, rejected: { diagnostics, texts } };
}

/** Checked before a service is opened. The start of the run finds the other local faults, and these again. */
async function findSourceFaults(loaded: LoadedPlan): Promise<readonly Diagnostic[]> {
  const { plan, baseDir } = loaded;
  if (!Object.values(plan.pipeline.volumes).some(({ source }) => source !== undefined)) return [];
  return locateFaults(await findMissingSources(plan, baseDir), loaded);
}

/** Prints why a run is not started, with the errors of its file. Returns the exit code. */
export function printRejectedStart(
  rejection: RejectedStart,
  { context, options }: Pick<RunRequest, 'context' | 'options'>,
): ExitCode {
  const { rejected } = rejection;
  if (rejected !== undefined) printDiagnostics(rejected.diagnostics, rejected.texts, { context, options });
  return reject(rejection, { context, options });
}

/** Why a run is not started, with the errors of its file, as one text. */
export function describeRejectedStart(rejection: RejectedStart): string {
  const { rejected } = rejection;
  const errors = rejected === undefined ? '' : `${renderDiagnostics(rejected.diagnostics, rejected.texts)}\n\n`;
  return `${errors}${wholeMessage(rejection)}`;
}
