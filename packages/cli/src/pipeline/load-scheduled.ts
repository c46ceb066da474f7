import { resolve } from 'node:path';
import { fail, ok, type Plan, type Result } from '@sluice/core';
import type { CommandContext, GlobalOptions } from '../context/command-context.ts';
import { loadPlan, type PipelineFileOptions } from './load-plan.ts';
import { countDiagnostics, printDiagnostics } from './print-diagnostics.ts';

/** The plan of a file whose pipeline has a schedule. */
export interface Scheduled {
  /** Name of the pipeline and of its schedule. */
  readonly name: string;
  readonly plan: Plan;
  /** Absolute. */
  readonly file: string;
  readonly baseDir: string;
  readonly timezone: string;
}

/** Plans the file of a schedule and prints its diagnostics; undefined if its pipeline has no schedule. */
export async function loadScheduled(
  file: string,
  { context, options }: { context: CommandContext; options: GlobalOptions & PipelineFileOptions },
): Promise<Result<Scheduled | undefined, string>> {
  const loaded = await loadPlan(file, { context, options });
  const { texts } = loaded.ok ? loaded.value : loaded.error;
  const diagnostics = loaded.ok ? loaded.value.warnings : loaded.error.diagnostics;
  printDiagnostics(diagnostics, texts, { context, options });
  if (!loaded.ok) return fail(`${countDiagnostics(diagnostics)} in ${file}`);
  const { plan, baseDir } = loaded.value;
  const { name, schedule } = plan.pipeline;
  return ok(schedule && { name, plan, file: resolve(context.cwd, file), baseDir, timezone: schedule.timezone });
}
