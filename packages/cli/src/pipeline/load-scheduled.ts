import { resolve } from 'node:path';
import { ok, type Plan, type Result } from '@sluice/core';
import type { CommandContext } from '../context/command-context.ts';
import { type LoadedPlan, loadPlan, type PipelineFileOptions, type RejectedFile } from './load-plan.ts';

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

/** The plan of a file, and its schedule if its pipeline has one. */
export interface LoadedSchedule {
  readonly loaded: LoadedPlan;
  readonly scheduled?: Scheduled;
}

/** Plans the file of a schedule. */
export async function loadScheduled(
  file: string,
  { context, options }: { context: Pick<CommandContext, 'cwd'>; options: PipelineFileOptions },
): Promise<Result<LoadedSchedule, RejectedFile>> {
  const planned = await loadPlan(file, { context, options });
  if (!planned.ok) return planned;
  const loaded = planned.value;
  const { plan, baseDir } = loaded;
  const { name, schedule } = plan.pipeline;
  if (schedule === undefined) return ok({ loaded });
  const { timezone } = schedule;
  return ok({ loaded, scheduled: { name, plan, file: resolve(context.cwd, file), baseDir, timezone } });
}
