import type { RunStatus } from '@sluice/run';
import type { Disk } from '../journal/disk.ts';
import { runDirectory } from '../runs/run-home.ts';
import { readSummary } from '../runs/run-summary.ts';

/** The state of a recorded run. `active`: a process executes it, here or elsewhere. `absent`: it has not started. */
export type RunLiveness =
  | { readonly kind: 'absent' | 'active' | 'suspended' }
  | { readonly kind: 'ended'; readonly status: RunStatus };

/** Reads one small file. A run that crashed between its journal and its summary counts as `absent`; resuming it decides. */
export async function readRunLiveness(disk: Disk, home: string, runId: string): Promise<RunLiveness> {
  const directory = runDirectory(home, runId);
  const summary = await readSummary(disk, directory);
  if (summary?.status !== undefined) return { kind: 'ended', status: summary.status };
  // `ask` is called only if there is a directory, since creating one would add a run to the list.
  if ((await disk.list(directory)).length === 0) return { kind: 'absent' };
  if ((await disk.ask(directory, '')) !== undefined) return { kind: 'active' };
  return { kind: summary === undefined ? 'absent' : 'suspended' };
}
