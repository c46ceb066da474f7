import { rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { CUSTODY_FILE, encodeHosted, RECEIVED_FILE, runDirectory } from '@sluice/home';
import { makeDurableDirectory, replaceFile, syncDirectory } from '@sluice/host-system';
import type { RunFiles } from '@sluice/runner';
import { SECRETS_FILE } from './secret-store.ts';
import type { StartRecord } from './start-record.ts';

/** Runs that are being written, before they appear among the others. */
function stagedRoot(home: string): string {
  return join(home, 'staged');
}

/** Removes what a killed process has left of runs that it was about to add. Only one process adds runs to a home. */
export function removeStaged(home: string): Promise<void> {
  return rm(stagedRoot(home), { recursive: true, force: true });
}

/** Adds a run with one rename: before it there is no run, after it there is a marked one with all its files. */
export async function addRun(
  { home, runId }: { readonly home: string; readonly runId: string },
  {
    files,
    start,
    sealed,
  }: { readonly files: RunFiles; readonly start: StartRecord; readonly sealed: Uint8Array | undefined },
): Promise<void> {
  const directory = runDirectory(home, runId);
  const staged = join(stagedRoot(home), runId);
  const write = (name: string, content: Uint8Array | object) =>
    replaceFile(join(staged, name), content instanceof Uint8Array ? content : `${JSON.stringify(content)}\n`);
  try {
    await rm(staged, { recursive: true, force: true });
    await makeDurableDirectory(staged);
    await write('plan.json', files['plan.json']);
    await write('journal.ndjson', files['journal.ndjson']);
    await write('summary.json', files.summary);
    await write(RECEIVED_FILE, start);
    if (sealed !== undefined) await write(SECRETS_FILE, sealed);
    await write(CUSTODY_FILE, encodeHosted());
    await makeDurableDirectory(dirname(directory));
    await rename(staged, directory);
  } catch (error) {
    await rm(staged, { recursive: true, force: true }).catch(() => {});
    throw error;
  }
  await syncDirectory(dirname(directory));
  await syncDirectory(dirname(staged));
}
