import type { Plan } from '@sluice/core';
import type { Reuse } from '@sluice/runner';
import type { CommandContext } from '../command-context.ts';
import { EXIT_CODE } from '../exit-code.ts';
import { findReuse, type ReuseOptions } from '../find-reuse.ts';
import { loadPlan } from '../pipeline/load-plan.ts';
import { countDiagnostics, printDiagnostics } from '../pipeline/print-diagnostics.ts';
import { fromRunner, refuse } from '../refuse.ts';

export interface RunPipelineOptions extends ReuseOptions {
  readonly param?: Readonly<Record<string, string>>;
  readonly parallelism?: number;
  /** False with `--no-wait`: a run that only waits for a person is left. */
  readonly wait?: boolean;
}

/** `sluice run`: a wrong file starts nothing; a right one runs to its end, or until it is left. */
export async function runPipeline(file: string, context: CommandContext, options: RunPipelineOptions): Promise<number> {
  const { terminal } = context;
  const loaded = await loadPlan(file, { context, params: options.param });
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
  const reuse = await findReuse(plan, { context, options });
  if (!reuse.ok) return refuse(reuse.error, { context, options });
  const { openService } = await import('../open-service.ts');
  const opened = await openService(options, context);
  if (!opened.ok) return refuse(opened.error, { context, options });
  try {
    return await runPlan(limit(plan, options.parallelism), {
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

async function runPlan(
  plan: Plan,
  given: Pick<
    Parameters<typeof import('@sluice/runner').startRun>[0],
    'service' | 'scope' | 'home' | 'baseDir' | 'limits' | 'reuse'
  > & {
    context: CommandContext;
    options: RunPipelineOptions;
  },
): Promise<number> {
  const { context, options, service, scope, home, baseDir, limits, reuse } = given;
  const [{ startRun }, { createProgress }, { driveRun }, { createSecretReader }] = await Promise.all([
    import('@sluice/runner'),
    import('../progress/create-progress.ts'),
    import('../drive-run.ts'),
    import('../create-secret-reader.ts'),
  ]);
  const progress = createProgress(context.terminal, options);
  const secrets = createSecretReader(home, context.env);
  if (reuse) progress.say(describeReuse(reuse));
  const started = await startRun({
    plan,
    service,
    scope,
    home,
    baseDir,
    secrets,
    reporter: progress,
    leavesForPeople: options.wait === false,
    ...(limits && { limits }),
    ...(reuse && { reuse }),
  });
  if (!started.ok) {
    progress.close();
    return refuse(fromRunner(started.error), { context, options });
  }
  return driveRun(started.value, { context, progress, options });
}

function describeReuse({ runId, again }: Reuse): string {
  const anew =
    again.length === 0 ? '' : `; again: ${again.join(', ')}, and what depends on ${again.length === 1 ? 'it' : 'them'}`;
  return `taking over from run ${runId} what went well and is the same still${anew}`;
}

/** The smaller of the file's limit and the command line's. */
function limit(plan: Plan, parallelism: number | undefined): Plan {
  if (parallelism === undefined) return plan;
  const smaller = Math.max(1, Math.min(parallelism, plan.pipeline.parallelism ?? parallelism));
  return { ...plan, pipeline: { ...plan.pipeline, parallelism: smaller } };
}
