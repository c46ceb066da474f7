import { isServiceError } from '@sluice/client';
import type { Diagnostic, Plan } from '@sluice/core';
import { markHosted } from '@sluice/host';
import type { Reuse } from '@sluice/run';
import { findMissingSources, findUnknown, type StartRunOptions, startRun, submitRun } from '@sluice/runner';
import type { OpenedService } from '../connect/opened-service.ts';
import type { RunServer } from '../connect/run-server.ts';
import type { CommandContext } from '../context/command-context.ts';
import { describeSystemError } from '../context/describe-system-error.ts';
import { EXIT_CODE } from '../context/exit-code.ts';
import { fromRunRefusal, refuse } from '../context/refuse.ts';
import { suggestCommand } from '../context/suggest-command.ts';
import { checkImages } from '../pipeline/check-images.ts';
import { findNotifyCommands } from '../pipeline/find-notify-commands.ts';
import { limitParallelism } from '../pipeline/limit-parallelism.ts';
import { type LoadedPlan, loadPlan, type PipelineFileOptions } from '../pipeline/load-plan.ts';
import { locateFaults } from '../pipeline/locate-faults.ts';
import { countDiagnostics, printDiagnostics } from '../pipeline/print-diagnostics.ts';
import type { Progress } from '../progress/plain-progress.ts';
import { createOrder } from '../runs/create-order.ts';
import { findReuse, type ReuseOptions } from '../runs/find-reuse.ts';
import type { JunitOptions } from '../runs/write-junit.ts';

/** Options of `sluice run`. */
export interface RunPipelineOptions extends ReuseOptions, PipelineFileOptions, JunitOptions {
  /** Most containers at once; the lower of this and the file's limit applies. */
  readonly parallelism?: number;
  /** Detach from a run that only waits for an approval. */
  readonly stopAtApproval?: boolean;
  /** Have the run executed by a process in the background. */
  readonly detach?: boolean;
  /** Of a detached run; default: a new one. */
  readonly runId?: string;
  /** The run is refused if it publishes elsewhere. */
  readonly publishBelow?: string;
}

/**
 * `sluice run`: checks the file, starts nothing if it has errors, and otherwise follows the run until it ends or is
 * detached.
 */
export async function runPipeline(file: string, context: CommandContext, options: RunPipelineOptions): Promise<number> {
  const loaded = await loadPlan(file, { context, options });
  printDiagnostics(
    loaded.ok ? loaded.value.warnings : loaded.error.diagnostics,
    loaded.ok ? loaded.value.texts : loaded.error.texts,
    { context, options },
  );
  if (!loaded.ok) {
    const message = `${countDiagnostics(loaded.error.diagnostics)} in ${file}; nothing was started`;
    return refuse({ exitCode: EXIT_CODE.refused, message }, { context, options });
  }
  const { plan, baseDir } = loaded.value;
  const refuseFile = (faults: readonly Diagnostic[]) => {
    if (faults.length === 0) return undefined;
    printDiagnostics(faults, loaded.value.texts, { context, options });
    const message = `${countDiagnostics(faults)} in ${file}; nothing was started`;
    return refuse({ exitCode: EXIT_CODE.refused, message }, { context, options });
  };
  const refused = refuseFile(await findSourceFaults(loaded.value));
  if (refused !== undefined) return refused;
  const images = await checkImages(plan, { context, options });
  if (!images.ok) return refuse(images.error, { context, options });
  const reuse = await findReuse(plan, { context, options });
  if (!reuse.ok) return refuse(reuse.error, { context, options });
  const { withService } = await import('../connect/with-service.ts');
  let submitted: { readonly runId: string; readonly home: string } | undefined;
  const exitCode = await withService({ context, options, startsContainers: true }, async (opened) => {
    const unknown = await findUnknownIn(plan, opened);
    if (unknown !== undefined) return refuse({ exitCode: EXIT_CODE.refused, message: unknown }, { context, options });
    const limited = limitParallelism(plan, options.parallelism);
    const given = { file, ...opened, ...reuse.value, baseDir, context, options };
    if (options.detach !== true) return runPlan(limited, given);
    if ((await opened.runServer?.isAvailable()) === true) {
      return refuseFile(findNotifyCommands(loaded.value)) ?? submitToServer(limited, given);
    }
    const outcome = await submitPlan(limited, given);
    if ('exitCode' in outcome) return outcome.exitCode;
    submitted = { ...outcome, home: opened.home };
    return EXIT_CODE.ok;
  });
  // The host opens the service after this process has closed it.
  return submitted === undefined ? exitCode : handOver(submitted, { context, options });
}

/** Checked before a service is opened. The start of the run finds the other local faults, and these again. */
async function findSourceFaults(loaded: LoadedPlan): Promise<readonly Diagnostic[]> {
  const { plan, baseDir } = loaded;
  if (!Object.values(plan.pipeline.volumes).some(({ source }) => source !== undefined)) return [];
  return locateFaults(await findMissingSources(plan, baseDir), loaded);
}

async function handOver(
  { runId, home }: { readonly runId: string; readonly home: string },
  { context, options }: { context: CommandContext; options: RunPipelineOptions },
): Promise<number> {
  const [{ handToHost }, { announceHosted }] = await Promise.all([
    import('../hosting/hand-to-host.ts'),
    import('../hosting/announce-hosted.ts'),
  ]);
  return announceHosted(await handToHost(home, { runId, context, options }), { runId, context, options });
}

/** A recorded run, or the exit code of the command that could not record it. */
type Submitted = { readonly runId: string } | { readonly exitCode: number };

/** Undefined also if the service does not answer: the start of the run reports that. */
async function findUnknownIn(plan: Plan, opened: OpenedService): Promise<string | undefined> {
  try {
    return await findUnknown({ plan, ...opened });
  } catch (error) {
    if (isServiceError(error)) return undefined;
    throw error;
  }
}

interface RunPlanOptions
  extends Pick<StartRunOptions, 'service' | 'scope' | 'home' | 'baseDir' | 'limits' | 'traces' | 'reuse'> {
  readonly file: string;
  readonly loginAdvice?: string;
  readonly runServer?: RunServer;
  readonly context: CommandContext;
  readonly options: RunPipelineOptions;
}

async function runPlan(plan: Plan, given: RunPlanOptions): Promise<number> {
  const { context, options, loginAdvice } = given;
  const { followRun } = await import('../runs/follow-run.ts');
  const { progress, start } = await prepareStart(plan, given);
  const started = await startRun(start);
  if (!started.ok) {
    progress.close();
    return refuse(fromRunRefusal(started.error, { options, loginAdvice }), { context, options });
  }
  return followRun(started.value, {
    context,
    progress,
    options,
  });
}

/** Records the run, and has the server of its service execute it. */
async function submitToServer(plan: Plan, given: RunPlanOptions): Promise<number> {
  const { context, options, home, loginAdvice, runServer } = given;
  const { handToServer } = await import('../remote/hand-to-server.ts');
  const { progress, start } = await prepareStart(plan, given);
  const submitted = await submitRun(start, { isElsewhere: true });
  progress.close();
  if (!submitted.ok) return refuse(fromRunRefusal(submitted.error, { options, loginAdvice }), { context, options });
  return handToServer({ home, runId: submitted.value.runId, server: runServer! }, { context, options });
}

/** Records the run for a host, marked so that every later host of the home resumes it. */
async function submitPlan(plan: Plan, given: RunPlanOptions): Promise<Submitted> {
  const { context, options, home, loginAdvice } = given;
  const [{ findHostFault }, { selectHostedOptions }] = await Promise.all([
    import('../hosting/hand-to-host.ts'),
    import('../connect/hosted-options.ts'),
  ]);
  const fault = findHostFault(home);
  if (fault !== undefined) {
    const message = `${fault}; nothing was started`;
    return { exitCode: refuse({ exitCode: EXIT_CODE.refused, message }, { context, options }) };
  }
  const { progress, start } = await prepareStart(plan, given);
  const submitted = await submitRun(start);
  progress.close();
  if (!submitted.ok) {
    return { exitCode: refuse(fromRunRefusal(submitted.error, { options, loginAdvice }), { context, options }) };
  }
  const { runId } = submitted.value;
  const marked = await markHosted(home, runId, { options: selectHostedOptions(options, context) }).catch(
    (error: Error) => error,
  );
  if (marked === undefined) return { runId };
  const message = `could not mark run ${runId} as detached: ${describeSystemError(marked)}; it is suspended: continue it with: ${suggestCommand(['resume', runId], options)}`;
  return { exitCode: refuse({ exitCode: EXIT_CODE.suspended, message }, { context, options }) };
}

/** The options of the run's start, and the display that receives its events. */
async function prepareStart(
  plan: Plan,
  given: RunPlanOptions,
): Promise<{ readonly progress: Progress; readonly start: StartRunOptions }> {
  const { context, options, service, scope, home, baseDir, limits, traces, reuse } = given;
  const [{ createProgress }, { createSecretReader }] = await Promise.all([
    import('../progress/create-progress.ts'),
    import('../home/create-secret-reader.ts'),
  ]);
  const progress = createProgress(context.terminal, options);
  if (reuse) progress.print(describeReuse(reuse));
  const start = {
    ...{ plan, service, scope, home, baseDir },
    secrets: createSecretReader(home, context.env),
    reporter: progress,
    leavesForPeople: options.stopAtApproval === true,
    ...(limits && { limits }),
    ...(traces && { traces }),
    ...(reuse && { reuse }),
    ...(options.publishBelow !== undefined && { publishBelow: options.publishBelow }),
    ...(options.runId !== undefined && { runId: options.runId }),
    order: createOrder(given.file, { context, options }),
  };
  return { progress, start };
}

function describeReuse({ runId, force }: Reuse): string {
  const rerun = force.length === 0 ? '' : `; rerunning ${force.join(', ')} and all dependents`;
  return `reusing successful, unchanged steps of run ${runId}${rerun}`;
}
