import type { Disk } from '../journal/disk.ts';
import { enteringDirectory } from '../journal/entering-directory.ts';
import { readLease } from '../journal/lease.ts';
import type { ControlRequest } from './control-run.ts';

/**
 * Sends a request to the living runner of a run, or to the process that waits for the run's concurrency group. Returns `ok`
 * or the reason for rejecting it; undefined if no process has the run.
 */
export async function askRunner(disk: Disk, directory: string, request: ControlRequest): Promise<string | undefined> {
  const lease = await readLease(disk, directory);
  const line = `${lease?.control ?? ''} ${JSON.stringify(request)}`;
  const answer = (await disk.ask(directory, line)) ?? (await disk.ask(enteringDirectory(directory), line));
  if (answer !== '') return answer;
  const who = lease ? `its runner process, ${lease.pid} on ${lease.host},` : 'its runner process';
  return `${who} does not answer; try again, or end that process: the containers keep running`;
}
