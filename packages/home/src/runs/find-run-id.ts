import { fail, ok, type Result } from '@sluice/core';
import type { RunError } from '@sluice/run';
import { isRunId } from '../identity/run-id.ts';
import type { Disk } from '../journal/disk.ts';
import { listRunIds, runDirectory } from './run-home.ts';

/** The complete ID of the only run whose ID begins with `prefix`. Lists the home's runs only if it is shortened. */
export async function findRunId(disk: Disk, home: string, prefix: string): Promise<Result<string, RunError>> {
  // All IDs are of one length, so that no other run can begin with it.
  if (isRunId(prefix) && (await disk.list(runDirectory(home, prefix))).length > 0) return ok(prefix);
  const found = (await listRunIds(disk, home)).filter((id) => id.startsWith(prefix));
  if (found.length === 1) return ok(found[0]!);
  const message =
    found.length === 0
      ? `could not find run ${prefix} in ${home}`
      : `could not tell which run ${prefix} is: ${found.slice(0, 5).join(', ')}`;
  return fail({ code: 'RUN_NOT_FOUND', message });
}
