import { fail, ok, type Result } from '@sluice/core';
import type { ReadLine } from '@sluice/run';
import type { Disk } from '../journal/disk.ts';
import { journalPath } from '../journal/open-journal.ts';
import { createJournalReader } from '../journal/parse-journal.ts';
import { createSystemDisk } from '../journal/system-disk.ts';
import { readSummary, type StoredSummary, writeSummary } from '../runs/run-summary.ts';

/** A local copy of the journal of a run that a server executes. At most one process may update it at a time. */
export interface JournalMirror {
  /** Bytes of the copy: complete lines whose checksums are correct. */
  readonly size: number;
  /** Whether the journal contains the end of the run, so that nothing will follow. */
  readonly hasEnded: boolean;
  /** Whether the server has written more than the copy contains; `read` as for `update`. Writes nothing. */
  isBehind(read: (offset: number) => Promise<Uint8Array>): Promise<boolean>;
  /**
   * Appends what the server has written since the last call, durably. `read` returns the bytes of its journal from a
   * position on, or some of them. If the server has another journal, the copy is replaced by it.
   */
  update(read: (offset: number) => Promise<Uint8Array>): Promise<Result<void, string>>;
}

/** What is known of a copy. */
interface Copied {
  readonly reader: ReturnType<typeof createJournalReader>;
  summary: StoredSummary | undefined;
}

/** Opens the copy in a run's directory; if there is none, it is empty. */
export async function openJournalMirror(directory: string, disk: Disk = createSystemDisk()): Promise<JournalMirror> {
  const file = journalPath(directory);
  let copied = await readCopy(disk, file);

  async function store(bytes: Uint8Array, { at, isNew }: { at: number; isNew: boolean }): Promise<void> {
    if (isNew) return disk.replace(file, bytes);
    const opened = await disk.append(file, at);
    try {
      opened.write(bytes);
      await opened.sync();
    } finally {
      await opened.close();
    }
  }

  return {
    get size() {
      return copied.reader.size;
    },
    get hasEnded() {
      return copied.summary?.status !== undefined;
    },
    async isBehind(read) {
      const { size, lastLine } = copied.reader;
      const part = await read(size - lastLine.length);
      return part.length > lastLine.length || !startsWith(part, lastLine);
    },
    async update(read) {
      if (!(await isUnchanged(copied, { disk, file }))) copied = await readCopy(disk, file);
      for (let isNew = false; ; ) {
        const { size, lastLine } = copied.reader;
        const before = copied.summary;
        // The last line is read again: if it is no longer in its place, this is another journal.
        const part = await read(size - lastLine.length);
        if (!startsWith(part, lastLine)) {
          copied = begin();
          isNew = true;
          continue;
        }
        const bytes = part.subarray(lastLine.length);
        const added = add(copied, bytes);
        if (!added.ok) return added;
        const count = copied.reader.size - size;
        if (count === 0) return ok(undefined);
        await store(bytes.subarray(0, count), { at: size, isNew });
        if (copied.summary && copied.summary !== before) await keepSummary(disk, directory, copied.summary);
        isNew = false;
      }
    },
  };
}

/** A crash of this machine may have damaged the copy; the server has all of it. */
async function readCopy(disk: Disk, file: string): Promise<Copied> {
  const copied = begin();
  return add(copied, (await disk.read(file)) ?? new Uint8Array()).ok ? copied : begin();
}

/** Whether no other process has updated the copy in the meantime. */
async function isUnchanged(
  { reader: { size, lastLine } }: Copied,
  { disk, file }: { readonly disk: Disk; readonly file: string },
): Promise<boolean> {
  const place = { start: size - lastLine.length, length: lastLine.length + 1 };
  const part = (await disk.readPart(file, place)) ?? new Uint8Array();
  return part.length === lastLine.length && startsWith(part, lastLine);
}

function begin(): Copied {
  return { reader: createJournalReader(), summary: undefined };
}

function add(copied: Copied, bytes: Uint8Array): Result<void, string> {
  const { reader } = copied;
  const read = reader.read(bytes, (line) => {
    copied.summary = summarizeLine(copied.summary, line);
  });
  return read.ok ? read : fail(`could not read the journal: ${read.error}`);
}

/** The labels are those of the order: the journal does not have those of the pipeline. */
async function keepSummary(disk: Disk, directory: string, summary: StoredSummary): Promise<void> {
  const { labels } = (await readSummary(disk, directory)) ?? {};
  await writeSummary(disk, directory, { ...(labels && { labels }), ...summary });
}

/** As `summarize`, without a replay. */
function summarizeLine(summary: StoredSummary | undefined, { record }: ReadLine): StoredSummary | undefined {
  if (record.kind === 'run') return { pipeline: record.pipeline, createdAt: record.at };
  if (record.kind === 'event' && record.event.type === 'started' && summary)
    return { ...summary, startedAt: record.event.at };
  if (record.kind === 'finished' && summary) return { ...summary, status: record.status, endedAt: record.at };
  return summary;
}

function startsWith(bytes: Uint8Array, prefix: Uint8Array): boolean {
  return bytes.length >= prefix.length && Buffer.compare(bytes.subarray(0, prefix.length), prefix) === 0;
}
