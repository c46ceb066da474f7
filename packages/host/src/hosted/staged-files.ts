import { open, readdir, rm, stat, utimes } from 'node:fs/promises';
import { join } from 'node:path';
import { isSystemError, makeDurableDirectory, syncDirectory } from '@sluice/host-system';
import { hashLocalFile } from '@sluice/runner';
import { ApiError } from '../errors/api-error.ts';
import { RUN_FILES, type RunFileName } from '../schemas/hand-over.ts';

/** The size and the SHA-256 of a file. */
export interface FileDigest {
  readonly size: number;
  readonly sha256: string;
}

/** Received files of which no run was made within this time are removed. */
const KEEP_MS = 86_400_000;

/** The directory of the files of a run that were received so far. */
export function stagedDirectory(home: string, runId: string): string {
  return join(home, 'staged', runId);
}

/** A run, and the time by which its received files are removed. */
interface StagedRun {
  readonly home: string;
  readonly runId: string;
  /** Milliseconds since the Unix epoch. */
  readonly now: () => number;
}

/** Creates the directory of a run. */
export async function createStaged({ home, runId, now }: StagedRun): Promise<void> {
  const directory = stagedDirectory(home, runId);
  await makeDurableDirectory(directory);
  // The times of a file system follow a clock that was set wrongly.
  await utimes(directory, now() / 1000, now() / 1000);
}

/** The bytes received, by file. */
export async function measureStaged(home: string, runId: string): Promise<Record<RunFileName, number>> {
  const directory = stagedDirectory(home, runId);
  const sizes = await Promise.all(RUN_FILES.map((name) => sizeOf(join(directory, name))));
  return { 'plan.json': sizes[0]!, 'journal.ndjson': sizes[1]! };
}

/**
 * Appends a part of a file. Bytes that were received before must be equal; otherwise the file is removed, and the client
 * must send it from its beginning. Returns how many bytes are new.
 */
export async function appendStaged(
  file: StagedRun & { readonly name: RunFileName },
  { offset, bytes }: { readonly offset: number; readonly bytes: Uint8Array },
): Promise<number> {
  const directory = stagedDirectory(file.home, file.runId);
  const path = join(directory, file.name);
  const size = await sizeOf(path);
  if (offset > size) {
    throw new ApiError(
      409,
      'OFFSET_INVALID',
      `could not store ${file.name}: ${size} bytes were received, not ${offset}`,
    );
  }
  if (size === 0 && bytes.length > 0) await createStaged(file);
  const known = Math.min(size - offset, bytes.length);
  if (known > 0 && !(await hasBytes(path, { offset, bytes: bytes.subarray(0, known) }))) {
    await rm(path, { force: true });
    const message = `could not store ${file.name}: it differs from the bytes that were received before; send it again from offset 0`;
    throw new ApiError(409, 'FILES_DIFFER', message);
  }
  const added = bytes.subarray(known);
  if (added.length === 0) return 0;
  const handle = await open(path, 'a', 0o600);
  try {
    await handle.writeFile(added);
    await handle.utimes(file.now() / 1000, file.now() / 1000);
  } finally {
    await handle.close();
  }
  return added.length;
}

/** Makes the received files durable if they are as announced; throws otherwise, and removes files that differ. */
export async function verifyStaged(
  { home, runId }: { readonly home: string; readonly runId: string },
  expected: Readonly<Record<RunFileName, FileDigest>>,
): Promise<void> {
  const directory = stagedDirectory(home, runId);
  const sizes = await measureStaged(home, runId);
  const short = RUN_FILES.find((name) => sizes[name] < expected[name].size);
  if (short !== undefined) {
    const message = `could not start run ${runId}: ${sizes[short]} of ${expected[short].size} bytes of ${short} were received`;
    throw new ApiError(409, 'FILES_MISSING', message);
  }
  for (const name of RUN_FILES) {
    const path = join(directory, name);
    if (sizes[name] === expected[name].size && (await hashLocalFile(path)) === expected[name].sha256) {
      await syncFile(path);
      continue;
    }
    await rm(path, { force: true });
    const message = `could not start run ${runId}: ${name} is not the file that was announced; send it again`;
    throw new ApiError(409, 'FILES_DIFFER', message);
  }
  await syncDirectory(directory);
}

/** Removes what was received of a run. */
export async function removeStaged(home: string, runId: string): Promise<void> {
  await rm(stagedDirectory(home, runId), { recursive: true, force: true });
}

/**
 * Removes old received files; returns the number of the runs of which files remain. `exclude` performs an action on a run
 * while no request about it is handled; undefined: one is being handled, so the files are kept.
 */
export async function removeOldStaged(
  { home, now }: Pick<StagedRun, 'home' | 'now'>,
  exclude: (runId: string, action: () => Promise<void>) => Promise<void> | undefined,
): Promise<number> {
  const names = await readdir(join(home, 'staged')).catch(() => []);
  let kept = 0;
  for (const name of names) {
    let isOld = false;
    await exclude(name, async () => {
      isOld = now() - (await findLastChange(stagedDirectory(home, name))) > KEEP_MS;
      if (isOld) await removeStaged(home, name);
    });
    if (!isOld) kept++;
  }
  return kept;
}

/** When the newest part was received, in milliseconds since the Unix epoch. A new file changes the time of its directory. */
async function findLastChange(directory: string): Promise<number> {
  const times = await Promise.all(RUN_FILES.map((name) => timeOf(join(directory, name))));
  return Math.max(...times) || timeOf(directory);
}

async function timeOf(path: string): Promise<number> {
  const found = await stat(path).catch(() => undefined);
  return found?.mtimeMs ?? 0;
}

async function sizeOf(path: string): Promise<number> {
  try {
    return (await stat(path)).size;
  } catch (error) {
    if (isSystemError(error, 'ENOENT', 'ENOTDIR')) return 0;
    throw error;
  }
}

async function hasBytes(
  path: string,
  { offset, bytes }: { readonly offset: number; readonly bytes: Uint8Array },
): Promise<boolean> {
  const handle = await open(path, 'r');
  try {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(bytes.length), 0, bytes.length, offset);
    return bytesRead === bytes.length && buffer.equals(bytes);
  } finally {
    await handle.close();
  }
}

async function syncFile(path: string): Promise<void> {
  const handle = await open(path, 'r+');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
