import { readdir, stat } from 'node:fs/promises';
import path from 'node:path';
import { createSystemDisk, listRuns, readJournal, runDirectory } from '@sluice/home';
import type { JournalRecord } from '@sluice/run';
import { hashLocalFile } from '../trees/hash-local-file.ts';

/** A file in a directory to which a run has copied an output. */
export interface PublishedFile {
  readonly runId: string;
  /** As the pipeline declares it. */
  readonly output: string;
  /** Inside the directory; empty for an output that is one file. */
  readonly path: string;
  /** When the run copied it, in milliseconds since the Unix epoch. */
  readonly copiedAt: number;
}

/** What was found, and what was not read. */
export interface FoundFiles {
  readonly files: readonly PublishedFile[];
  readonly unread: readonly string[];
}

const MAX_RUNS = 1_000;
const MAX_FILES = 10_000;
const MAX_FOUND = 20;
/** A search for a hash without a size reads no more than this. */
const MAX_BYTES = 2_000_000_000;

/** The copy of an output that contains a local file: the newest one to its directory. */
export async function findPublishedFile(home: string, file: string): Promise<PublishedFile | undefined> {
  const found = (await listCopies(home)).find(({ directory }) => isInside(directory, file));
  return found && toFile(found, file);
}

/** The files with this content in the directories to which the runs of a home have copied outputs. `size`: of the content. */
export async function findPublishedContent(
  home: string,
  { sha256, size }: { readonly sha256: string; readonly size?: number },
): Promise<FoundFiles> {
  const files: PublishedFile[] = [];
  const seen = new Set<string>();
  let [read, skipped, seenFiles] = [0, 0, 0];
  for (const copy of await listCopies(home)) {
    if (seen.has(copy.directory)) continue;
    seen.add(copy.directory);
    for (const file of await listFiles(copy.directory)) {
      if (files.length >= MAX_FOUND) break;
      const bytes = (await stat(file).catch(() => undefined))?.size;
      if (bytes === undefined || (size !== undefined && bytes !== size)) continue;
      if (++seenFiles > MAX_FILES || read + bytes > MAX_BYTES) {
        skipped += 1;
        continue;
      }
      read += bytes;
      if ((await hashLocalFile(file)) === sha256) files.push(toFile(copy, file));
    }
  }
  const unread = skipped === 0 ? [] : [`${skipped} files in published directories, which are too many or too large`];
  return { files, unread };
}

interface Copy {
  readonly runId: string;
  readonly output: string;
  readonly directory: string;
  readonly copiedAt: number;
}

/** Newest first. */
async function listCopies(home: string): Promise<readonly Copy[]> {
  const disk = createSystemDisk();
  const root = path.resolve(home);
  const copies: Copy[] = [];
  for (const { runId } of (await listRuns(root, disk)).slice(0, MAX_RUNS)) {
    const journal = await readJournal(disk, runDirectory(root, runId));
    const last = journal.ok ? journal.value.records.findLast(isDelivery) : undefined;
    for (const [output, directory] of Object.entries(last?.outputs ?? {}))
      copies.push({ runId, output, directory, copiedAt: last!.at });
  }
  return copies.sort((a, b) => b.copiedAt - a.copiedAt);
}

function isDelivery(record: JournalRecord): record is Extract<JournalRecord, { kind: 'delivered' }> {
  return record.kind === 'delivered';
}

async function listFiles(directory: string): Promise<readonly string[]> {
  const top = await stat(directory).catch(() => undefined);
  if (top === undefined) return [];
  if (!top.isDirectory()) return [directory];
  const entries = await readdir(directory, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => path.join(entry.parentPath, entry.name))
    .sort();
}

function isInside(directory: string, file: string): boolean {
  return file === directory || file.startsWith(`${directory}${path.sep}`);
}

function toFile({ runId, output, directory, copiedAt }: Copy, file: string): PublishedFile {
  const inside = path.relative(directory, file).split(path.sep).join('/');
  return { runId, output, path: inside, copiedAt };
}
