import path from 'node:path';
import { fail, limitPlan, ok, type Plan, type Result } from '@sluice/core';
import { decodePlan, encodePlan, findFormatFault, type KeptPlan, type RunError } from '@sluice/run';
import { isRunId } from '../identity/run-id.ts';
import type { Disk } from '../journal/disk.ts';
import { RECEIVED_FILE } from '../journal/run-marks.ts';
import { createSystemDisk } from '../journal/system-disk.ts';

/** The directory of a run in the home. */
export function runDirectory(home: string, runId: string): string {
  return path.join(home, 'runs', runId);
}

/** The IDs of the home's runs. */
export async function listRunIds(disk: Disk, home: string): Promise<string[]> {
  return (await disk.list(path.join(home, 'runs'))).filter(isRunId);
}

/**
 * What the expressions of a decision, a container or a description of a received run may cost together: at most half a
 * second, in which the server does nothing else.
 */
const RECEIVED_TURNS = 1_000_000;

/**
 * The plan that was stored when the run started; undefined if there is none. The error says why it cannot be read. The
 * evaluations of a run that this home has received are limited.
 */
export async function readPlan(disk: Disk, directory: string): Promise<Result<Plan | undefined, string>> {
  const bytes = await disk.read(planPath(directory));
  if (!bytes) return ok(undefined);
  const plan = parsePlan(bytes);
  if (plan.ok && (await disk.list(directory)).includes(RECEIVED_FILE)) limitReceivedPlan(plan.value);
  return plan;
}

/** Whether a plan is stored, which may be damaged. */
export async function hasPlan(disk: Disk, directory: string): Promise<boolean> {
  return (await disk.list(directory)).includes(path.basename(planPath(directory)));
}

/** The plan in a stored file. */
export function parsePlan(bytes: Uint8Array): Result<Plan, string> {
  try {
    const kept: unknown = JSON.parse(Buffer.from(bytes).toString('utf8'));
    const fault = findFormatFault(kept);
    return fault === undefined ? ok(decodePlan(kept as KeptPlan)) : fail(fault);
  } catch (error) {
    return fail(`it is damaged: ${(error as Error).message}`);
  }
}

/** Limits the evaluations of a plan that the author of a received run has written. */
export function limitReceivedPlan(plan: Plan): void {
  limitPlan(plan, RECEIVED_TURNS);
}

/** Stores the plan, which never changes afterwards. */
export async function writePlan(disk: Disk, directory: string, plan: Plan): Promise<void> {
  await disk.replace(planPath(directory), serializePlan(plan));
}

/** Stores the plan of a run that a server executes, as the server has it. */
export function storePlan(directory: string, plan: Uint8Array): Promise<void> {
  return createSystemDisk().replace(planPath(directory), plan);
}

/** The file of a plan. */
export function serializePlan(plan: Plan): Uint8Array {
  return Buffer.from(JSON.stringify(encodePlan(plan)));
}

/** The rejection of a run whose plan cannot be read. */
export function rejectUnreadablePlan(runId: string, reason: string): RunError {
  return { code: 'JOURNAL_DAMAGED', message: `could not read the plan of run ${runId}: ${reason}` };
}

/** The path of a run's plan. */
export function planPath(directory: string): string {
  return path.join(directory, 'plan.json');
}
