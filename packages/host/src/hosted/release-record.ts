import { readFile, rm } from 'node:fs/promises';
import { runDirectory } from '@sluice/home';
import { isSystemError, replaceFile, syncDirectory } from '@sluice/host-system';
import type { z } from 'zod';
import { releasedPath } from '../execute/hosted-mark.ts';
import { releaseReply } from '../schemas/hand-over.ts';

const recordSchema = releaseReply.pick({ status: true, journal: true });

/** What a server has answered to the release of a run; without `journal` while it is leaving the run. */
export type ReleaseRecord = z.infer<typeof recordSchema>;

/** Undefined: the run was not released. A damaged record counts as one of a release in progress. */
export async function readRelease(home: string, runId: string): Promise<ReleaseRecord | undefined> {
  let text: string;
  try {
    text = await readFile(releasedPath(home, runId), 'utf8');
  } catch (error) {
    if (isSystemError(error, 'ENOENT', 'ENOTDIR')) return undefined;
    throw error;
  }
  try {
    return recordSchema.parse(JSON.parse(text));
  } catch {
    return {};
  }
}

/** From now on, this server does not resume the run, whatever its mark says. */
export async function writeRelease(home: string, runId: string, record: ReleaseRecord): Promise<void> {
  await replaceFile(releasedPath(home, runId), `${JSON.stringify(record)}\n`);
}

/** From now on, the mark of the run counts again. */
export async function removeRelease(home: string, runId: string): Promise<void> {
  await rm(releasedPath(home, runId), { force: true });
  await syncDirectory(runDirectory(home, runId));
}
