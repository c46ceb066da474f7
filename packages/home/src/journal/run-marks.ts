import path from 'node:path';
import { describeCustody, isCollecting, readCustody } from './custody.ts';
import type { Disk } from './disk.ts';

/** Says which request has started the run on a server: its paths and addresses are those of another machine. */
export const RECEIVED_FILE = 'start.json';

/** What the files beside a journal say about who may execute the run. */
export interface RunMarks {
  /** Why no process of this home may execute or change the run; undefined if one may. */
  readonly rejection?: { readonly code: 'RUN_HOSTED' | 'RUN_IN_USE' | 'RUN_NOT_FOUND'; readonly message: string };
  /** Whether the run was written by a machine that this one does not trust. */
  readonly isReceived: boolean;
}

/**
 * Reads every mark of a run. `openJournal` calls it before a run is executed or changed, while the run is claimed; a mark
 * that is not read here has no effect. Throws if a mark is damaged that says where the run is executed.
 */
export async function readRunMarks(disk: Disk, directory: string): Promise<RunMarks> {
  const names = await disk.list(directory);
  const isReceived = names.includes(RECEIVED_FILE);
  const custody = await readCustody({ disk, directory });
  const rejection =
    reject(isCollecting(custody) ? 'RUN_IN_USE' : 'RUN_HOSTED', describeCustody(custody)) ??
    reject('RUN_NOT_FOUND', !names.includes('plan.json') && (await describeRemoved(disk, directory)));
  return { isReceived, ...(rejection && { rejection }) };
}

/** A home keeps the summary of a run that it has removed because it was old. */
async function describeRemoved(disk: Disk, directory: string): Promise<string | undefined> {
  const removed = path.join(path.dirname(path.dirname(directory)), 'removed', path.basename(directory));
  return (await disk.list(removed)).length > 0 ? 'it has ended, and was removed because it was old' : undefined;
}

function reject(
  code: NonNullable<RunMarks['rejection']>['code'],
  why: string | false | undefined,
): RunMarks['rejection'] {
  return why ? { code, message: `could not execute the run here: ${why}` } : undefined;
}
