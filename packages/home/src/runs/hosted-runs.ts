import { readdir, stat } from 'node:fs/promises';
import path from 'node:path';
import type { Result } from '@sluice/core';
import { isRunId } from '../identity/run-id.ts';
import { CUSTODY_FILE, type Custody, type CustodyPlace, moveCustody, readCustodyNow } from '../journal/custody.ts';
import type { CustodyMove } from '../journal/legal-moves.ts';
import { createSystemDisk } from '../journal/system-disk.ts';
import { runDirectory } from './run-home.ts';

/** The custody of a run of this machine. */
export function runCustody(home: string, runId: string): CustodyPlace {
  return { disk: createSystemDisk(), directory: runDirectory(home, runId) };
}

/** As `moveCustody`, for a run of this machine. */
export function moveRun(
  { home, runId }: { readonly home: string; readonly runId: string },
  move: CustodyMove,
  details?: Parameters<typeof moveCustody>[2],
): Promise<Result<Custody, string>> {
  return moveCustody(runCustody(home, runId), move, details);
}

/** Has a run again as it was before `detach` or `take`. */
export async function restoreCustody(home: string, runId: string, before: Custody): Promise<void> {
  if (before.state === 'host') await moveRun({ home, runId }, 'detach', { options: before.options });
  else await moveRun({ home, runId }, 'take');
}

/** Whether the process that hosts the runs of the home is to execute the run. A damaged custody does not say so. */
export function isHosted(home: string, runId: string): boolean {
  try {
    return readCustodyNow(runCustody(home, runId)).state === 'host';
  } catch {
    return false;
  }
}

/** The runs of the host of a home, in the order in which it got them: so those that waited longest are first again. */
export async function listHosted(home: string): Promise<string[]> {
  const names = await readdir(path.join(home, 'runs')).catch(() => []);
  const hosted = names.filter((name) => isRunId(name) && isHosted(home, name));
  const times = new Map(await Promise.all(hosted.map(async (name) => [name, await timeOf(home, name)] as const)));
  return hosted.sort((a, b) => times.get(a)! - times.get(b)!);
}

async function timeOf(home: string, runId: string): Promise<number> {
  const found = await stat(path.join(runDirectory(home, runId), CUSTODY_FILE)).catch(() => undefined);
  return found?.mtimeMs ?? 0;
}
