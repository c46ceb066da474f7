import { createHash } from 'node:crypto';
import { fail, ok, type Result } from '@sluice/core';
import { createSystemDisk, journalPath, parseJournal, runDirectory } from '@sluice/home';
import type { RunStatus } from '@sluice/run';

/** The journal of a run that no process executes, as another machine is to continue it. */
export interface HandedJournal {
  /** Bytes of its complete lines, with which every later version begins. */
  readonly size: number;
  /** Of these bytes, in hexadecimal. */
  readonly sha256: string;
  /** How the run has ended, if it has. */
  readonly status?: RunStatus;
}

/** Reads the journal of a run. An incomplete line of a crash at its end does not count. */
export async function readHandedJournal(home: string, runId: string): Promise<Result<HandedJournal, string>> {
  const bytes = (await createSystemDisk().read(journalPath(runDirectory(home, runId)))) ?? new Uint8Array();
  const content = parseJournal(bytes);
  if (!content.ok) return fail(content.error);
  const { size, records } = content.value;
  const finished = records.find((record) => record.kind === 'finished');
  return ok({
    size,
    sha256: createHash('sha256').update(bytes.subarray(0, size)).digest('hex'),
    ...(finished && { status: finished.status }),
  });
}
