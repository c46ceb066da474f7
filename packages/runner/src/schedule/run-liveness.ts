import type { Disk } from '../journal/disk.ts';
import { runDirectory } from '../record/run-home.ts';
import { readSummary } from '../record/run-summary.ts';
import type { RunStatus } from '../scheduler/model/command.ts';

/** How far the run of a record has come. `driven`: by a living runner, here or elsewhere. */
export type RunLiveness =
  | { readonly kind: 'absent' | 'driven' | 'suspended' }
  | { readonly kind: 'over'; readonly status: RunStatus };

/** Reads one small file. A run that died between its journal and its summary is `absent`: resuming it tells. */
export async function readRunLiveness(disk: Disk, home: string, runId: string): Promise<RunLiveness> {
  const directory = runDirectory(home, runId);
  const summary = await readSummary(disk, directory);
  if (summary?.status !== undefined) return { kind: 'over', status: summary.status };
  // Asking would make no sense before there is a directory, and making one would list a run that is none.
  if ((await disk.list(directory)).length === 0) return { kind: 'absent' };
  if ((await disk.ask(directory, '')) !== undefined) return { kind: 'driven' };
  return { kind: summary === undefined ? 'absent' : 'suspended' };
}
