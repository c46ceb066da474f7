import path from 'node:path';
import type { Plan } from '@sluice/core';
import { isRunId } from '../identity/run-id.ts';
import type { Disk } from '../journal/disk.ts';

/** Where a run keeps its files in the home. */
export function runDirectory(home: string, runId: string): string {
  return path.join(home, 'runs', runId);
}

/** The IDs of the home's runs. */
export async function listRunIds(disk: Disk, home: string): Promise<string[]> {
  return (await disk.list(path.join(home, 'runs'))).filter(isRunId);
}

/** The plan that a run froze at its start; undefined where there is none. */
export async function readPlan(disk: Disk, directory: string): Promise<Plan | undefined> {
  const bytes = await disk.read(planPath(directory));
  return bytes && (JSON.parse(Buffer.from(bytes).toString('utf8')) as Plan);
}

/** Freezes the plan: nothing changes it afterwards. */
export async function writePlan(disk: Disk, directory: string, plan: Plan): Promise<void> {
  await disk.replace(planPath(directory), Buffer.from(JSON.stringify(plan)));
}

function planPath(directory: string): string {
  return path.join(directory, 'plan.json');
}
