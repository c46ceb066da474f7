import { existsSync } from 'node:fs';
import { lstat, readdir, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { readStoredSummary, runDirectory, type StoredSummary } from '@sluice/home';
import { isSystemError, makeDurableDirectory, syncDirectory } from '@sluice/host-system';
import { ApiError } from '../errors/api-error.ts';

/** The only file that stays of a removed run. */
const KEPT_FILE = 'summary.json';
/** What is known of a removed run is forgotten after this time. */
const REMEMBERED_MS = 365 * 86_400_000;

/** What a home knows of a run that it has removed. */
export interface Removal {
  /** Milliseconds since the Unix epoch. */
  readonly removedAt: number;
  /** Undefined: it is damaged. */
  readonly summary: StoredSummary | undefined;
}

function removedRoot(home: string): string {
  return join(home, 'removed');
}

function removedDirectory(home: string, runId: string): string {
  return join(removedRoot(home), runId);
}

/** Creates the directory of removed runs before a full disk makes that impossible. */
export function prepareRemovals(home: string): Promise<void> {
  return makeDurableDirectory(removedRoot(home));
}

/**
 * Removes a run with one rename: before it the home has all of the run, after it nothing that is executed, listed or
 * reused. Then its files are deleted, which needs no space on the disk and is continued by `finishRemovals` after a kill.
 */
export async function moveToRemoved(home: string, runId: string): Promise<void> {
  const directory = runDirectory(home, runId);
  const target = removedDirectory(home, runId);
  // Only if an operator has restored the run.
  await removeTree(target);
  await rename(directory, target);
  await syncDirectory(dirname(directory));
  await syncDirectory(dirname(target));
}

/** Deletes the files of removed runs, and what is known of those that were removed a year ago. */
export async function finishRemovals(home: string, now: number): Promise<void> {
  const names = await readdir(removedRoot(home)).catch((error: unknown) => {
    if (isSystemError(error, 'ENOENT')) return [];
    throw error;
  });
  for (const name of names) {
    const directory = join(removedRoot(home), name);
    const found = await lstat(directory);
    // Of a link, only the link is removed.
    const isForgotten = !found.isDirectory() || now - found.mtimeMs > REMEMBERED_MS;
    await (isForgotten ? removeTree(directory) : deleteRemoved(home, name));
  }
}

/** Deletes the files of a removed run. */
export async function deleteRemoved(home: string, runId: string): Promise<void> {
  const directory = removedDirectory(home, runId);
  for (const name of await readdir(directory)) if (name !== KEPT_FILE) await removeTree(join(directory, name));
}

/** Follows no links: of a link, only the link is removed. */
function removeTree(path: string): Promise<void> {
  return rm(path, { recursive: true, force: true });
}

/** Undefined: the home has not removed a run with this ID, or not within the last year, or an operator has restored it. */
export async function readRemoval(home: string, runId: string): Promise<Removal | undefined> {
  if (existsSync(runDirectory(home, runId))) return undefined;
  const directory = removedDirectory(home, runId);
  try {
    const found = await lstat(directory);
    if (!found.isDirectory()) return undefined;
    return { removedAt: found.mtimeMs, summary: await readStoredSummary(directory) };
  } catch (error) {
    if (isSystemError(error, 'ENOENT', 'ENOTDIR')) return undefined;
    throw error;
  }
}

/** The reply to every request about a removed run. */
export function describeRemoval(runId: string, { removedAt, summary }: Removal): ApiError {
  const { status, endedAt } = summary ?? {};
  const ended = endedAt === undefined ? '' : `: it ended on ${toDay(endedAt)} (${status})`;
  const why = `the server removed it on ${toDay(removedAt)}${ended}`;
  const advice = 'a home that has followed it to its end has a copy';
  const error = new ApiError(404, 'RUN_REMOVED', `could not find run ${runId}: ${why}; ${advice}`);
  error.details = {
    ...(status !== undefined && { status }),
    ...(endedAt !== undefined && { endedAt: new Date(endedAt).toISOString() }),
  };
  return error;
}

/** Throws if the run was removed: it has been executed, so a repeated request must not execute it again. */
export async function rejectRemoved(home: string, runId: string): Promise<void> {
  const removal = await readRemoval(home, runId);
  if (removal !== undefined) throw describeRemoval(runId, removal);
}

function toDay(at: number): string {
  return new Date(at).toISOString().slice(0, 10);
}
