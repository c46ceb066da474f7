import { readLease } from '../journal/lease.ts';
import { createSystemDisk } from '../journal/system-disk.ts';
import { runDirectory } from './run-home.ts';

/** The process that executes a run, or did so last; undefined before the first. */
export async function readRunProcess(
  home: string,
  runId: string,
): Promise<{ readonly pid: number; readonly host: string } | undefined> {
  return readLease(createSystemDisk(), runDirectory(home, runId));
}
