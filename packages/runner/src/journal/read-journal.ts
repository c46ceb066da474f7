import type { Result } from '@sluice/core';
import type { Disk } from './disk.ts';
import { journalPath } from './open-journal.ts';
import { type JournalContent, parseJournal } from './parse-journal.ts';

/**
 * The journal in a run's directory as it is at this moment; one that is not there is empty. Takes no lock and changes
 * nothing, so that its end may be torn, or be written on.
 */
export async function readJournal(disk: Disk, directory: string): Promise<Result<JournalContent, string>> {
  return parseJournal((await disk.read(journalPath(directory))) ?? new Uint8Array());
}
