import { rename } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Scope } from '@sluice/client';
import { RECEIVED_FILE, runDirectory } from '@sluice/home';
import { makeDurableDirectory, replaceFile, syncDirectory } from '@sluice/host-system';
import { type CheckedRun, checkRunFiles } from '@sluice/runner';
import { ApiError } from '../errors/api-error.ts';
import type { LimitCheck } from './account-limits.ts';
import { removeStaged, stagedDirectory } from './staged-files.ts';
import type { StartRecord } from './start-record.ts';

/** Checks the files of a run as those of an author who is not trusted. Throws `ApiError`, and removes files that are invalid. */
export async function checkStagedRun(
  runId: string,
  {
    home,
    scope,
    limits,
  }: { readonly home: string; readonly scope: Scope; readonly limits: Pick<LimitCheck, 'maxSteps'> },
): Promise<CheckedRun> {
  const checked = await checkRunFiles(stagedDirectory(home, runId), { runId, scope, maxCells: limits.maxSteps() });
  if (checked.ok) return checked.value;
  await removeStaged(home, runId);
  throw new ApiError(400, 'RUN_INVALID', `could not start run ${runId}: ${checked.error}`);
}

/** Writes what a run has besides its plan and its journal. */
export async function describeStaged(
  staged: string,
  { summary, start }: Pick<CheckedRun, 'summary'> & { readonly start: StartRecord },
): Promise<void> {
  await replaceFile(join(staged, 'summary.json'), `${JSON.stringify(summary)}\n`);
  await replaceFile(join(staged, RECEIVED_FILE), `${JSON.stringify(start)}\n`);
}

/** For a request to start a run with the ID of another one. */
export function describeExisting(runId: string): ApiError {
  const message = `could not start run ${runId}: this account has a run with this ID and other content`;
  return new ApiError(409, 'RUN_EXISTS', message);
}

/** Starts a run whose files are complete, with one rename: before it there is no run, after it there is a marked one. */
export async function addStagedRun(home: string, runId: string): Promise<void> {
  const directory = runDirectory(home, runId);
  const staged = stagedDirectory(home, runId);
  await replaceFile(join(staged, 'hosted.json'), `${JSON.stringify({ options: {} })}\n`);
  await makeDurableDirectory(dirname(directory));
  await rename(staged, directory);
  await syncDirectory(dirname(directory));
  await syncDirectory(dirname(staged));
}
