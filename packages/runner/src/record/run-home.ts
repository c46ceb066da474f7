import path from 'node:path';
import type { Plan, PlannedStep } from '@sluice/core';
import { isRunId } from '../identity/run-id.ts';
import type { Disk } from '../journal/disk.ts';
import { renamePlanKeys } from './rename-plan-keys.ts';

/** The directory of a run in the home. */
export function runDirectory(home: string, runId: string): string {
  return path.join(home, 'runs', runId);
}

/** The IDs of the home's runs. */
export async function listRunIds(disk: Disk, home: string): Promise<string[]> {
  return (await disk.list(path.join(home, 'runs'))).filter(isRunId);
}

/** The stored form of a plan. The steps themselves are in the pipeline already, in the same order. */
interface KeptPlan extends Omit<Plan, 'steps'> {
  readonly steps: readonly Omit<PlannedStep, 'step'>[];
}

/** The plan that was stored when the run started; undefined if there is none. */
export async function readPlan(disk: Disk, directory: string): Promise<Plan | undefined> {
  const bytes = await disk.read(planPath(directory));
  return bytes && parsePlan(bytes);
}

/** The plan in a stored file. Throws if the file is damaged. */
export function parsePlan(bytes: Uint8Array): Plan {
  const kept = JSON.parse(Buffer.from(bytes).toString('utf8')) as KeptPlan;
  const pipeline = renamePlanKeys(kept.pipeline);
  const all = [...pipeline.steps, ...pipeline.finally];
  return { ...kept, pipeline, steps: kept.steps.map((planned) => ({ ...planned, step: all[planned.index]! })) };
}

/** Stores the plan, which never changes afterwards. */
export async function writePlan(disk: Disk, directory: string, plan: Plan): Promise<void> {
  const steps = plan.steps.map(({ index, final, dependencies, cells }) => ({ index, final, dependencies, cells }));
  const kept: KeptPlan = { ...plan, steps };
  await disk.replace(planPath(directory), Buffer.from(JSON.stringify(kept)));
}

/** The path of a run's plan. */
export function planPath(directory: string): string {
  return path.join(directory, 'plan.json');
}
