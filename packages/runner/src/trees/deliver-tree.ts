import { createHash, randomBytes } from 'node:crypto';
import { mkdir, readdir, rm, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { fail, ok, type Result } from '@sluice/core';
import { isSystemError, makeDirectories, systemErrorCode } from '@sluice/host-system';
import type { TransferProgress } from './count-transfer.ts';
import { downloadTree, type TreeSource } from './download-tree.ts';
import { removeResult, replaceDirectory } from './replace-directory.ts';
import { RESULT_MARKER, type ResultMarker, writeMarker } from './result-marker.ts';
import { MOUNTED, resolveTarget, targetFault } from './target-fault.ts';

/** What a delivery that was killed has left is removed by the next one after this long, by the same run at once. */
const LEFTOVER_MS = 7 * 24 * 3_600_000;

export interface DeliverOptions {
  /** What comes into the target; several for cells that lie in several places. */
  readonly sources: readonly TreeSource[];
  /** Texts of files that come beside them, by name. */
  readonly added?: Readonly<Record<string, string>>;
  readonly to: string;
  /** Only one process at a time has it: what is there under it belongs to one that was killed. Default: nobody's. */
  readonly owner?: string;
  readonly marker: Omit<ResultMarker, 'files' | 'deliveredAt'>;
  /** Milliseconds since the epoch. */
  readonly now: number;
  /** Directories that have to stay where they are: the pipeline's and the home. */
  readonly around: readonly string[];
  readonly onProgress?: (progress: TransferProgress) => void;
}

/**
 * Makes a local directory from directories of volumes and puts it in place of `to` as a whole: whoever looks, also after
 * a kill, sees the result of one run and its marker. Returns warnings, or why `to` cannot be replaced. Files that no
 * delivery has written are never removed. Throws `ServiceError`, or Node's own errors for the local side.
 */
export async function deliverTree(options: DeliverOptions): Promise<Result<string[], string>> {
  const target = await resolveTarget(options.to);
  const fault = await targetFault(target, await Promise.all(options.around.map(resolveTarget)));
  if (fault !== undefined) return fail(fault);
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
    const deliveredAt = new Date(options.now).toISOString();
    const files = [...downloaded.files, ...added.map(([name]) => name)].sort();
    await writeMarker(staged, { ...options.marker, deliveredAt, files });
    replaceDirectory(staged, target, () => names.fresh('old'));
    return ok([...downloaded.warnings, ...(await removeAside(parent, names))]);
  } catch (error) {
    if (!isSystemError(error, 'EBUSY')) throw error;
    return fail(MOUNTED);
  } finally {
    await rm(staged, { recursive: true, force: true });
  }
}

/** Names beside a target that no one else has, and that tell whose they are. */
interface TemporaryNames {
  readonly prefix: string;
  readonly ownPrefix: string | undefined;
  fresh(kind: 'new' | 'old'): string;
}

function temporaryNames(target: string, owner: string | undefined): TemporaryNames {
  const hash = createHash('sha256').update(path.basename(target)).digest('hex').slice(0, 12);
  const prefix = `.sluice-${hash}-`;
  const ownPrefix = `${prefix}${owner ?? 'pull'}-`;
  const parent = path.dirname(target);
  const fresh = (kind: string) => path.join(parent, `${ownPrefix}${randomBytes(6).toString('hex')}.${kind}`);
  return { prefix, ownPrefix: owner && ownPrefix, fresh };
}

async function removeLeftovers(parent: string, { prefix, ownPrefix }: TemporaryNames, now: number): Promise<void> {
  for (const name of await readdir(parent)) {
    const leftover = path.join(parent, name);
    if (!name.startsWith(prefix) || name.endsWith('.old')) continue;
    const isOwn = ownPrefix !== undefined && name.startsWith(ownPrefix);
    const age = now - ((await stat(leftover).catch(() => undefined))?.mtimeMs ?? now);
    if (isOwn || age > LEFTOVER_MS) await rm(leftover, { recursive: true, force: true });
  }
}

/** Removes the results that were replaced, also by a delivery that was killed then. */
async function removeAside(parent: string, { prefix }: TemporaryNames): Promise<string[]> {
  const warnings: string[] = [];
  for (const name of await readdir(parent)) {
    if (!name.startsWith(prefix) || !name.endsWith('.old')) continue;
    const aside = path.join(parent, name);
    try {
      if (await removeResult(aside)) continue;
      warnings.push(`the previous result received files that Sluice did not write; they are in ${aside}`);
    } catch (error) {
      // The new result is in its place: what is left of the old one is no failure.
      warnings.push(`could not remove the previous result: ${(error as Error).message}; remove ${aside}`);
    }
  }
  return warnings;
}
