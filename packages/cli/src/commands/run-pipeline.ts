import type { Plan } from '@sluice/core';
import type { Reuse } from '@sluice/runner';
import type { OpenedService } from '../connect/opened-service.ts';
import type { CommandContext } from '../context/command-context.ts';
import { EXIT_CODE } from '../context/exit-code.ts';
import { fromRunRefusal, refuse } from '../context/refuse.ts';
import { checkImages } from '../pipeline/check-images.ts';
import { checkSources } from '../pipeline/check-sources.ts';
import { limitParallelism } from '../pipeline/limit-parallelism.ts';
import { loadPlan, type PipelineFileOptions } from '../pipeline/load-plan.ts';
import { countDiagnostics, printDiagnostics } from '../pipeline/print-diagnostics.ts';
import { findReuse, type ReuseOptions } from '../runs/find-reuse.ts';
import { recordCommand } from '../runs/recorded-command.ts';

/** Options of `sluice run`. */
export interface RunPipelineOptions extends ReuseOptions, PipelineFileOptions {
  /** Most containers at once; the lower of this and the file's limit applies. */
  readonly parallelism?: number;
  /** Detach from a run that only waits for an approval. */
  readonly stopAtApproval?: boolean;
}

/**
 * `sluice run`: checks the file, starts nothing if it has errors, and otherwise follows the run until it ends or is
 * detached.
 */
export async function runPipeline(file: string, context: CommandContext, options: RunPipelineOptions): Promise<number> {
  const { terminal } = context;
  const loaded = await loadPlan(file, { context, options });
  printDiagnostics(
    loaded.ok ? loaded.value.warnings : loaded.error.diagnostics,
    loaded.ok ? loaded.value.texts : loaded.error.texts,
    {
      terminal,
      ...options,
    },
  );
  if (!loaded.ok) {
    const message = `${countDiagnostics(loaded.error.diagnostics)} in ${file}; nothing was started`;
    return refuse({ exitCode: EXIT_CODE.refused, message }, { context, options });
  }
  const { plan, baseDir } = loaded.value;
  const missing = await checkSources(loaded.value);
  if (missing.length > 0) {
    printDiagnostics(missing, loaded.value.texts, { terminal, ...options });
    const message = `${countDiagnostics(missing)} in ${file}; nothing was started`;
    return refuse({ exitCode: EXIT_CODE.refused, message }, { context, options });
  }
  const images = await checkImages(plan, { context, options });
  if (!images.ok) return refuse(images.error, { context, options });
  const reuse = await findReuse(plan, { context, options });
  if (!reuse.ok) return refuse(reuse.error, { context, options });
  const { openService, showWarnings } = await import('../connect/open-service.ts');
  const opened = await openService(options, context);
  if (!opened.ok) return refuse(opened.error, { context, options });
  showWarnings(opened.value, context);
  try {
    const unknown = await findUnknownIn(plan, opened.value);
    if (unknown !== undefined) return refuse({ exitCode: EXIT_CODE.refused, message: unknown }, { context, options });
    return await runPlan(limitParallelism(plan, options.parallelism), {
      file,
      ...opened.value,
      ...reuse.value,
      baseDir,
      context,
      options,
    });
  } finally {
    await opened.value.close();
  }
}

/** Undefined also if the service does not answer: the start of the run reports that. */
async function findUnknownIn(plan: Plan, opened: OpenedService): Promise<string | undefined> {
  const [{ findUnknown }, { isServiceError }] = await Promise.all([import('@sluice/runner'), import('@sluice/client')]);
  try {
    return await findUnknown({ plan, ...opened });
  } catch (error) {
    if (isServiceError(error)) return undefined;
    throw error;
  }
}

async function runPlan(
  plan: Plan,
  given: Pick<
    Parameters<typeof import('@sluice/runner').startRun>[0],
    'service' | 'scope' | 'home' | 'baseDir' | 'limits' | 'reuse'
  > & {
    file: string;
    context: CommandContext;
    options: RunPipelineOptions;
  },
): Promise<number> {
  const { context, options, service, scope, home, baseDir, limits, reuse } = given;
  const [{ startRun }, { createProgress }, { followRun }, { createSecretReader }] = await Promise.all([
    import('@sluice/runner'),
    import('../progress/create-progress.ts'),
    import('../runs/follow-run.ts'),
    import('../home/create-secret-reader.ts'),
  ]);
  const progress = createProgress(context.terminal, options);
  const secrets = createSecretReader(home, context.env);
  if (reuse) progress.print(describeReuse(reuse));
  const started = await startRun({
    plan,
    service,
    scope,
    home,
    baseDir,
    secrets,
    reporter: progress,
    leavesForPeople: options.stopAtApproval === true,
    ...(limits && { limits }),
    ...(reuse && { reuse }),
    rerun: recordCommand(given.file, { context, options }),
  });
  if (!started.ok) {
    progress.close();
    return refuse(fromRunRefusal(started.error, { options }), { context, options });
  }
  return followRun(started.value, {
    context,
    progress,
    options,
  });
}

function describeReuse({ runId, again }: Reuse): string {
  const rerun = again.length === 0 ? '' : `; rerunning ${again.join(', ')} and all dependents`;
  return `reusing successful, unchanged steps of run ${runId}${rerun}`;
}
