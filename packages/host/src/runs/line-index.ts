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
}

/** The number of line feeds before each whole part of a log; the first is 0. */
type Counts = number[];

/** Reads nothing until a line is wanted. */
export function createLineIndex(): LineIndex {
  const known = new Map<string, Counts>();

  function countsOf({ key, size }: ReadableLog): Counts {
    let counts = known.get(key) ?? [0];
    // A service can cut a log that has reached its limit.
    if ((counts.length - 1) * PART_BYTES > size) counts = [0];
    known.delete(key);
    known.set(key, counts);
    for (const oldest of known.keys()) {
      if (known.size <= KEPT) break;
      known.delete(oldest);
    }
    return counts;
  }

  return {
    async find(log, line) {
      const counts = countsOf(log);
      while (counts.at(-1)! < line - 1 && counts.length * PART_BYTES <= log.size) {
        const part = counts.length - 1;
        const found = await countLines(log, part);
        // Another reader may have counted the same part meanwhile.
        if (counts.length === part + 1) counts.push(counts[part]! + found);
      }
      const part = Math.max(
        0,
        counts.findLastIndex((count) => count < line - 1),
      );
      return findInPart(log, part * PART_BYTES, line - 1 - counts[part]!);
    },
  };
}

async function countLines(log: ReadableLog, part: number): Promise<number> {
  let count = 0;
  for await (const block of log.read({ start: part * PART_BYTES, end: (part + 1) * PART_BYTES }))
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
