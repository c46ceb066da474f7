import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { ok, type Result } from '@sluice/core';
import { runDirectory } from '@sluice/home';
import { makeDurableDirectory, replaceFile } from '@sluice/host-system';
import type { RunRefusal } from '@sluice/run';
import { createRerun, type RerunFiles } from '@sluice/runner';
import { isHosted } from '../execute/hosted-mark.ts';
import { type RerunRequest, RUN_FILES, type RunFileName } from '../schemas/hand-over.ts';
import type { HandOverParts } from './hand-over-parts.ts';
import { refuseShortage } from './refuse-shortage.ts';
import { type FileDigest, removeStaged, stagedDirectory } from './staged-files.ts';
import { addStagedRun, checkStagedRun, describeExisting, describeStaged } from './staged-run.ts';
import { readStart } from './start-record.ts';

/**
 * Executes the plan of an ended run again. The server writes the files that a client would have handed over, and starts
 * them in the same way: with one rename. The same request again starts nothing. Throws `ApiError` if a limit is exceeded.
 */
export async function startRerun(
  runId: string,
  given: HandOverParts & {
    readonly request: RerunRequest;
    /** Removes files that were received long ago. */
    readonly removeOld: () => Promise<unknown>;
  },
): Promise<Result<void, RunRefusal>> {
  const { home, service, host, limits, request } = given;
  const directory = runDirectory(home, runId);
  if (existsSync(directory)) {
    const started = await readStart(directory);
    if (!isDeepStrictEqual(started?.rerun, request)) throw describeExisting(runId);
    if (isHosted(home, runId)) host.take(runId);
    return ok(undefined);
  }
  await refuseShortage(given);
  limits.checkRate();
  const created = await createRerun({ home, service, runId, ...request });
  if (!created.ok) return created;
  const files = created.value;
  await limits.checkStorage(RUN_FILES.reduce((sum, name) => sum + files[name].length, 0));
  await given.removeOld();
  await stage({ home, runId }, files);
  const { cells, summary } = await checkStagedRun(runId, given);
  limits.checkSteps(cells);
  await describeStaged(stagedDirectory(home, runId), { summary, start: { files: digestFiles(files), rerun: request } });
  await addStagedRun(home, runId);
  host.take(runId);
  return ok(undefined);
}

/** Replaces what an interrupted request has left. */
async function stage(
  { home, runId }: { readonly home: string; readonly runId: string },
  files: RerunFiles,
): Promise<void> {
  await removeStaged(home, runId);
  const staged = stagedDirectory(home, runId);
  await makeDurableDirectory(staged);
  for (const name of RUN_FILES) await replaceFile(join(staged, name), files[name]);
}

function digestFiles(files: RerunFiles): Readonly<Record<RunFileName, FileDigest>> {
  const digest = (bytes: Uint8Array) => ({
    size: bytes.length,
    sha256: createHash('sha256').update(bytes).digest('hex'),
  });
  return { 'plan.json': digest(files['plan.json']), 'journal.ndjson': digest(files['journal.ndjson']) };
}
