import type { VolumeService } from '@sluice/client';
import { fail, ok, type Result } from '@sluice/core';
import {
  createSystemDisk,
  journalPath,
  parseJournal,
  parsePlan,
  planPath,
  refuseUnreadablePlan,
  runDirectory,
} from '@sluice/home';
import { secretNames } from '../session/create-redactor.ts';
import { readRunLogins } from './run-logins.ts';

/** What another machine needs to execute a run. */
export interface RunHandOver {
  /** The journal contains only complete lines. */
  readonly files: { readonly 'plan.json': Uint8Array; readonly 'journal.ndjson': Uint8Array };
  readonly secretNames: readonly string[];
  /** Of the run's volumes, by ID. */
  readonly logins: Readonly<Record<string, VolumeService>>;
}

/** Reads a run that no process executes. */
export async function readHandOver(home: string, runId: string): Promise<Result<RunHandOver, string>> {
  const disk = createSystemDisk();
  const directory = runDirectory(home, runId);
  const bytes = await disk.read(planPath(directory));
  const journal = await disk.read(journalPath(directory));
  if (!bytes || !journal) return fail('it was interrupted before it began');
  const plan = parsePlan(bytes);
  if (!plan.ok) return fail(refuseUnreadablePlan(runId, plan.error).message);
  const content = parseJournal(journal);
  if (!content.ok) return fail(`could not read ${journalPath(directory)}: ${content.error}`);
  return ok({
    files: { 'plan.json': bytes, 'journal.ndjson': journal.subarray(0, content.value.size) },
    secretNames: [...secretNames(plan.value)],
    logins: await readRunLogins(home, runId),
  });
}

/** Stores the plan of a run that a server executes. */
export function writePlanBytes(directory: string, plan: Uint8Array): Promise<void> {
  return createSystemDisk().replace(planPath(directory), plan);
}
