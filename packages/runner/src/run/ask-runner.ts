import type { Disk } from '../journal/disk.ts';
import { readLease } from '../journal/lease.ts';
import type { ControlRequest } from './control-run.ts';

/** Asks the living runner of a run for something. Undefined: nobody drives it; else its answer, `ok` or a reason. */
export async function askRunner(disk: Disk, directory: string, request: ControlRequest): Promise<string | undefined> {
  const lease = await readLease(disk, directory);
  return disk.ask(directory, `${lease?.control ?? ''} ${JSON.stringify(request)}`);
}
