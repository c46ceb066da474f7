import type { Result } from '@sluice/core';
import type { Disk } from './disk.ts';
import { journalPath } from './open-journal.ts';
import { type JournalContent, parseJournal } from './parse-journal.ts';

/**
 * The present journal in a run's directory; empty if there is none. Takes no lock and changes nothing: another process
 * may be writing, and the last lines may be incomplete.
 */
export async function readJournal(disk: Disk, directory: string): Promise<Result<JournalContent, string>> {
  return parseJournal((await disk.read(journalPath(directory))) ?? new Uint8Array());
}
