import { mkdir, readdir, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { fail, ok, type Result } from '@sluice/core';
import { isSystemError, makeDirectories, systemErrorCode } from '@sluice/host-system';
import type { TransferProgress } from './count-transfer.ts';
import { downloadTree, type TreeSource } from './download-tree.ts';
import { removeResult, replaceDirectory } from './replace-directory.ts';
import { RESULT_MARKER, type ResultMarker, readMarker, writeMarker } from './result-marker.ts';
import { MOUNTED, resolveTarget, targetFault } from './target-fault.ts';
import { removeLeftovers, type TemporaryNames, temporaryNames } from './temporary-names.ts';

/** What to copy, and where. */
export interface DeliverOptions {
  /** The content of the target: several sources if cells have several origins. */
  readonly sources: readonly TreeSource[];
  /** Texts of files that are added, by name. */
  readonly added?: Readonly<Record<string, string>>;
  /** The target: a local directory. */
  readonly to: string;
  /** A name that only one process uses at a time: temporary files with it are left by a killed process. Default: none. */
  readonly owner?: string;
  readonly marker: Omit<ResultMarker, 'files' | 'copiedAt'>;
  /** Milliseconds since the Unix epoch. */
  readonly now: number;
  /** Directories that must not be replaced: that of the pipeline, and the home. */
  readonly around: readonly string[];
  /**
   * Each output of the run has a directory of its own: a target with another output of the same run is rejected. Default: it
   * is replaced.
   */
  readonly publishes?: boolean;
  readonly onProgress?: (progress: TransferProgress) => void;
}

/**
 * Assembles a local directory from directories of volumes and replaces `to` with it atomically: at any time, even after a
 * kill, it contains the output of one run with its marker. Returns warnings, or why `to` cannot be replaced. Files that
 * Sluice did not write are never removed. Throws `ServiceError`, or Node's own errors about local files.
 */
export async function deliverTree(options: DeliverOptions): Promise<Result<string[], string>> {
  const target = await resolveTarget(options.to);
  const fault = await targetFault(target, await Promise.all(options.around.map(resolveTarget)));
  if (fault !== undefined) return fail(fault);
  const other = options.publishes === true ? await findOtherOutput(target, options.marker) : undefined;
  if (other !== undefined) {
    return fail(`it holds output ${other} of this run, perhaps through a link; name a directory of its own`);
  }
  const parent = path.dirname(target);
  await makeDirectories(parent);
  const names = temporaryNames(target, options.owner);
  await removeLeftovers(parent, names, options.now);
  const staged = names.fresh('new');
  try {
    await mkdir(staged);
  } catch (error) {
    const code = systemErrorCode(error);
    if (code !== 'EACCES' && code !== 'EROFS') throw error;
    return fail(`its new content is assembled in ${parent}, where this user may not write; name another directory`);
  }
  try {
    const downloaded = await downloadTree({ ...options, to: staged });
    if (downloaded.files.includes(RESULT_MARKER)) {
      return fail(`it holds a file ${RESULT_MARKER}, a name reserved for the delivery marker; rename the file`);
    }
    const added = Object.entries(options.added ?? {});
    for (const [name, text] of added) await writeFile(path.join(staged, name), text, { flag: 'wx' });
    const copiedAt = new Date(options.now).toISOString();
    const files = [...downloaded.files, ...added.map(([name]) => name)].sort();
    await writeMarker(staged, { ...options.marker, copiedAt, files });
    replaceDirectory(staged, target, () => names.fresh('old'));
    return ok([...downloaded.warnings, ...(await removeAside(parent, names))]);
  } catch (error) {
    if (!isSystemError(error, 'EBUSY')) throw error;
    return fail(MOUNTED);
  } finally {
    await rm(staged, { recursive: true, force: true });
  }
}

async function findOtherOutput(
  target: string,
  { runId, output }: DeliverOptions['marker'],
): Promise<string | undefined> {
  const there = await readMarker(target);
  return there?.runId === runId && there.output !== output ? there.output : undefined;
}

/** Removes the results that were replaced, including those that a killed delivery replaced. */
async function removeAside(parent: string, { prefix }: TemporaryNames): Promise<string[]> {
  const warnings: string[] = [];
  for (const name of await readdir(parent)) {
    if (!name.startsWith(prefix) || !name.endsWith('.old')) continue;
    const aside = path.join(parent, name);
    try {
      if (await removeResult(aside)) continue;
      warnings.push(`the previous result received files that Sluice did not write; they are in ${aside}`);
    } catch (error) {
      // The new result is in place, so this is not a failure.
      warnings.push(`could not remove the previous result: ${(error as Error).message}; remove ${aside}`);
    }
  }
  return warnings;
}
