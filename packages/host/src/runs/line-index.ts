import type { ReadableLog } from './open-log.ts';

/** Logs whose lines are known. */
const KEPT = 64;
/** The place of a line is known for each so many bytes. */
const PART_BYTES = 1 << 20;
const NEWLINE = 10;

/** Finds lines in logs of gigabytes: each part of a log is searched once, however many readers jump in it. */
export interface LineIndex {
  /** The offset where a line begins, counted from 1; the size of the log if it has fewer lines. */
  find(log: ReadableLog, line: number): Promise<number>;
  /** The number of the line, counted from 1, that contains the byte at an offset; beyond the end, that of the last line. */
  lineAt(log: ReadableLog, offset: number): Promise<number>;
}

/** What is known of a log. */
interface LineCounts {
  /** The number of line feeds before each whole part; the first is 0. */
  readonly counts: number[];
  /** Counts the next part for all readers that wait for it. */
  counting?: Promise<void> | undefined;
}

/** Reads nothing until a line is wanted. */
export function createLineIndex(): LineIndex {
  const known = new Map<string, LineCounts>();

  function countsOf({ key, size }: ReadableLog): LineCounts {
    let found = known.get(key);
    // A service can cut a log that has reached its limit.
    if (found === undefined || (found.counts.length - 1) * PART_BYTES > size) found = { counts: [0] };
    known.delete(key);
    known.set(key, found);
    for (const oldest of known.keys()) {
      if (known.size <= KEPT) break;
      known.delete(oldest);
    }
    return found;
  }

  return {
    async find(log, line) {
      const counts = await extendCounts(countsOf(log), log, (counts) => counts.at(-1)! >= line - 1);
      const part = Math.max(
        0,
        counts.findLastIndex((count) => count < line - 1),
      );
      return findInPart(log, part * PART_BYTES, line - 1 - counts[part]!);
    },
    async lineAt(log, offset) {
      const end = Math.min(offset, log.size);
      const part = Math.floor(end / PART_BYTES);
      const counts = await extendCounts(countsOf(log), log, (counts) => counts.length > part);
      return 1 + counts[part]! + (await countLines(log, { start: part * PART_BYTES, end }));
    },
  };
}

/** Counts the lines of further whole parts, until it is enough or the log has no more. */
async function extendCounts(
  known: LineCounts,
  log: ReadableLog,
  isEnough: (counts: readonly number[]) => boolean,
): Promise<readonly number[]> {
  const { counts } = known;
  while (!isEnough(counts) && counts.length * PART_BYTES <= log.size) {
    known.counting ??= countNext(counts, log).finally(() => {
      known.counting = undefined;
    });
    await known.counting;
  }
  return counts;
}

async function countNext(counts: number[], log: ReadableLog): Promise<void> {
  const start = (counts.length - 1) * PART_BYTES;
  counts.push(counts.at(-1)! + (await countLines(log, { start, end: start + PART_BYTES })));
}

/** The number of line feeds in a range. */
async function countLines(log: ReadableLog, range: { readonly start: number; readonly end: number }): Promise<number> {
  let count = 0;
  if (range.start === range.end) return count;
  for await (const block of log.read(range))
    for (let at = block.indexOf(NEWLINE); at >= 0; at = block.indexOf(NEWLINE, at + 1)) count++;
  return count;
}

/** The offset after so many line feeds from `start` on. */
async function findInPart(log: ReadableLog, start: number, count: number): Promise<number> {
  if (count === 0) return start;
  let [offset, left] = [start, count];
  for await (const block of log.read({ start, end: log.size })) {
    for (let at = block.indexOf(NEWLINE); at >= 0; at = block.indexOf(NEWLINE, at + 1)) {
      left--;
      if (left === 0) return offset + at + 1;
    }
    offset += block.length;
  }
  return log.size;
}
