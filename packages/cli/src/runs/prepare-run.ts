import { type Diagnostic, fail, ok, type Result } from '@sluice/core';
import type { Reuse } from '@sluice/run';
import { findMissingSources } from '@sluice/runner';
import type { CommandContext } from '../context/command-context.ts';
import { type CommandRefusal, wholeMessage } from '../context/command-refusal.ts';
import { EXIT_CODE, type ExitCode } from '../context/exit-code.ts';
import { refuse } from '../context/refuse.ts';
import { checkImages } from '../pipeline/check-images.ts';
import { type LoadedPlan, loadPlan, type RefusedFile } from '../pipeline/load-plan.ts';
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
  /** The run is refused if it publishes elsewhere. */
  readonly publishBelow?: string;
}

/** A run whose file has no errors, before a service is opened. */
export interface PreparedRun {
  readonly loaded: LoadedPlan;
  readonly reuse?: Reuse;
}

/** Why a run is not started. `refused`: the errors of its file, and its warnings. */
export interface RefusedStart extends CommandRefusal {
  readonly refused?: Pick<RefusedFile, 'diagnostics' | 'texts'>;
}

/** Plans a run and finds what is wrong with it on this machine. Starts and prints nothing. */
export async function prepareRun({ file, context, options }: RunRequest): Promise<Result<PreparedRun, RefusedStart>> {
  const loaded = await loadPlan(file, { context, options });
  if (!loaded.ok) return fail(refuseFile(file, loaded.error));
  const { plan } = loaded.value;
  const faults = await findSourceFaults(loaded.value);
  if (faults.length > 0) return fail(refuseLoaded(file, { loaded: loaded.value, faults }));
  const images = await checkImages(plan, { context, options });
  if (!images.ok) return images;
  const reuse = await findReuse(plan, { context, options });
  return reuse.ok ? ok({ loaded: loaded.value, ...reuse.value }) : reuse;
}

/** Refuses a file that could be planned, for errors that only its start finds. */
export function refuseLoaded(
  file: string,
  { loaded: { texts }, faults }: { readonly loaded: LoadedPlan; readonly faults: readonly Diagnostic[] },
): RefusedStart {
  return refuseFile(file, { diagnostics: faults, texts });
}

function refuseFile(file: string, { diagnostics, texts }: Pick<RefusedFile, 'diagnostics' | 'texts'>): RefusedStart {
  const message = `${countDiagnostics(diagnostics)} in ${file}; nothing was started`;
  return { exitCode: EXIT_CODE.refused, message, refused: { diagnostics, texts } };
}

/** Checked before a service is opened. The start of the run finds the other local faults, and these again. */
async function findSourceFaults(loaded: LoadedPlan): Promise<readonly Diagnostic[]> {
  const { plan, baseDir } = loaded;
  if (!Object.values(plan.pipeline.volumes).some(({ source }) => source !== undefined)) return [];
  return locateFaults(await findMissingSources(plan, baseDir), loaded);
}

/** Prints why a run is not started, with the errors of its file. Returns the exit code. */
export function printRefusedStart(
  refusal: RefusedStart,
  { context, options }: Pick<RunRequest, 'context' | 'options'>,
): ExitCode {
  const { refused } = refusal;
  if (refused !== undefined) printDiagnostics(refused.diagnostics, refused.texts, { context, options });
  return refuse(refusal, { context, options });
}

/** Why a run is not started, with the errors of its file, as one text. */
export function describeRefusedStart(refusal: RefusedStart): string {
  const { refused } = refusal;
  const errors = refused === undefined ? '' : `${renderDiagnostics(refused.diagnostics, refused.texts)}\n\n`;
  return `${errors}${wholeMessage(refusal)}`;
}
