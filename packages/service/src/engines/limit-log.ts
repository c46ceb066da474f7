import { constants, fstatSync, ftruncateSync } from 'node:fs';
import { type FileHandle, lstat, open } from 'node:fs/promises';

/** What is kept of the end, if the limit is not too small for that. */
export const MOST_END_BYTES = 256 * 1024;
const TRIES = 50;
/** The line of a cut, which tells how many bytes all cuts of the log have left out: no two cuts have the same number. */
const CUT_LINE = /^\n\[sluice\] the log has reached its limit of \d+ bytes; (\d{1,15}) bytes were left out here\n/;
/** The same of a log that grew only at its end (`native/output.c`), whose first line was there before the end of the command. */
const APPENDED_LINES =
  /^(\n\[sluice\] the log has reached its limit of \d+ bytes; of what follows, the last \d+ bytes are added when the command has ended)\n\[sluice\] (\d{1,15}) bytes were left out here\n/;
/** More than the lines of a cut have. */
export const CUT_LINE_BYTES = 320;

/**
 * Cuts a log that exceeds `limitBytes` to its beginning, a line that says so, and its end. For logs that commands append to
 * directly: call it regularly while the command runs, and once after its end. The call after the end loses nothing of the
 * end that it finds. An earlier call can lose what the command appends during the cut, including its last lines; what was
 * appended before the call or after it is not affected. Readers learn of the cut by `followCuts`.
 */
export async function limitLog(path: string, limitBytes: number | undefined): Promise<void> {
  if (limitBytes === undefined) return;
  // Two concurrent cuts would remove each other's end. Not `cutsSettled`: of several that wait, one must begin in the same turn.
  while (inFlight.has(path)) await inFlight.get(path)?.catch(() => {});
  const cut = cutLog(path, limitBytes).finally(() => inFlight.delete(path));
  inFlight.set(path, cut);
  await cut;
}

/** Where a log that exceeds its limit is cut. */
export function cutStart(limitBytes: number): number {
  return Math.floor(limitBytes / 2);
}

/** The line of a cut at the beginning of some bytes: its length, and how many bytes were left out. Undefined without one. */
function parseCutLine(bytes: Uint8Array): { readonly length: number; readonly leftOut: number } | undefined {
  const [line, leftOut] = CUT_LINE.exec(Buffer.from(bytes).toString('latin1')) ?? [];
  return line === undefined ? undefined : { length: line.length, leftOut: Number(leftOut) };
}

/**
 * As `parseCutLine`, also of a log that is not cut but ends later: `offset` is where the line begins that says how much was left
 * out, with the line break before it.
 */
export function parseCut(bytes: Uint8Array): { readonly offset: number; readonly leftOut: number } | undefined {
  const line = parseCutLine(bytes);
  if (line !== undefined) return { offset: 0, leftOut: line.leftOut };
  const [lines, first = '', leftOut] = APPENDED_LINES.exec(Buffer.from(bytes).toString('latin1')) ?? [];
  return lines === undefined ? undefined : { offset: first.length, leftOut: Number(leftOut) };
}

/** Resolves when no cut of the log at `path` by this process is in progress. */
export async function cutsSettled(path: string): Promise<void> {
  while (inFlight.has(path)) await inFlight.get(path)?.catch(() => {});
}

const inFlight = new Map<string, Promise<void>>();

/** The cuts of a log as one of its readers sees them; `stop` must be called at its end. */
export interface LogCuts {
  /** Whether the log was cut since the last `settled`, or is being cut. Bytes that were read since then may be wrong. */
  isStale(): boolean;
  /** Waits for a cut in progress. Resolves to the first byte that was replaced since the last call; undefined without a cut. */
  settled(): Promise<number | undefined>;
  /** Called when a cut begins. */
  onCut: () => void;
  stop(): void;
}

const readers = new Map<string, Set<{ replaced: number | undefined; onCut: () => void }>>();

/** Follows the cuts of the log at `path` by this process, which is the only one that cuts it. */
export function followCuts(path: string): LogCuts {
  const others = readers.get(path) ?? new Set();
  readers.set(path, others);
  const reader = {
    replaced: undefined as number | undefined,
    onCut: () => {},
    isStale: () => reader.replaced !== undefined,
    async settled() {
      await cutsSettled(path);
      const { replaced } = reader;
      reader.replaced = undefined;
      return replaced;
    },
    stop() {
      others.delete(reader);
      if (others.size === 0 && readers.get(path) === others) readers.delete(path);
    },
  };
  others.add(reader);
  return reader;
}

async function cutLog(path: string, limitBytes: number): Promise<void> {
  const found = await lstat(path).catch(() => undefined);
  if (found === undefined || found.size <= limitBytes) return;
  // The directory may belong to the container's user, who must not redirect the cut to another file by a link.
  const file = await open(path, constants.O_RDWR | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  try {
    const { nlink, dev, ino, ...stats } = await file.stat();
    if (nlink !== 1 || dev !== found.dev || ino !== found.ino || !found.isFile()) return;
    const end = Buffer.alloc(Math.min(MOST_END_BYTES, Math.floor(limitBytes / 4)));
    const beginning = cutStart(limitBytes);
    const { buffer, bytesRead: length } = await file.read(Buffer.alloc(CUT_LINE_BYTES), 0, CUT_LINE_BYTES, beginning);
    const before = parseCutLine(buffer.subarray(0, length));
    const kept = beginning + end.length + (before?.length ?? 0);
    for (const reader of readers.get(path) ?? []) {
      reader.replaced = beginning;
      reader.onCut();
    }
    // In this order, so that a crash between the two loses nothing. What a command appends between the last check of the
    // size and the cut is lost: no system call truncates a file only if it still has a given size, and another process
    // cannot be kept from appending. The two follow each other synchronously to minimize this.
    const { bytesRead } = await file.read(end, 0, end.length, stats.size - end.length);
    const leftOut = (before?.leftOut ?? 0) + Math.max(1, stats.size - kept);
    const line = `\n[sluice] the log has reached its limit of ${limitBytes} bytes; ${leftOut} bytes were left out here\n`;
    const rest = Buffer.concat([Buffer.from(line), end.subarray(0, bytesRead)]);
    await file.write(rest, 0, rest.length, beginning);
    await moveAppended(file, { from: stats.size, to: beginning + rest.length });
  } finally {
    await file.close();
  }
}

/**
 * Truncates a file at `to`, with what was appended behind `from` in the meantime. Each try moves only what came since the
 * last one. A command that writes constantly could prevent the cut forever, and fill the disk, so the tries are limited.
 */
async function moveAppended(file: FileHandle, { from, to }: { from: number; to: number }): Promise<void> {
  for (let tries = 0; tries < TRIES; tries++) {
    const appended = Buffer.alloc(Math.min(fstatSync(file.fd).size - from, from - to));
    if (appended.length === 0) break;
    const { bytesRead } = await file.read(appended, 0, appended.length, from);
    await file.write(appended, 0, bytesRead, to);
    from += bytesRead;
    to += bytesRead;
  }
  ftruncateSync(file.fd, to);
}
