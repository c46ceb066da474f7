import path from 'node:path';
import { fail, ok, type Result } from '@sluice/core';
import type { Disk } from '../journal/disk.ts';
import { createSystemDisk } from '../journal/system-disk.ts';
import { askRunner } from './ask-runner.ts';
import { findRun } from './find-run.ts';
import { runDirectory } from './run-home.ts';
import type { RunRefusal } from './run-options.ts';

/** Gives the answer of a person to the living runner of a run. */
export async function approveRun(
  home: string,
  answer: { readonly runId: string; readonly step: string; readonly approved: boolean; readonly by: string },
  disk: Disk = createSystemDisk(),
): Promise<Result<void, RunRefusal>> {
  const root = path.resolve(home);
  const found = await findRun(disk, root, answer.runId);
  if (!found.ok) return found;
  const { step, approved, by } = answer;
  const said = await askRunner(disk, runDirectory(root, found.value), { verb: 'approve', step, approved, by });
  if (said === 'ok') return ok(undefined);
  const why = said ?? `no runner drives run ${found.value}; resume it and answer again`;
  return fail({ code: 'NOT_ASKED', message: `could not answer for ${step}: ${why}` });
}
