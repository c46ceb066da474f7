import { type FileHandle, open } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';

export interface LogOptions {
  /** So many last lines; the whole where absent. */
  readonly tail?: number | undefined;
  readonly follow?: boolean | undefined;
  readonly signal?: AbortSignal | undefined;
}

const BLOCK_BYTES = 64 * 1024;
const FIRST_LOOK_MS = 20;
const SLOWEST_LOOK_MS = 1000;

/**
 * The bytes of a log, in blocks read when the reader asks for them: a slow reader holds one block, whatever the size
 * of the log. With `follow` it goes on until `isLive` says no and all is given; looks grow rarer while nothing comes.
 */
export async function* readLog(path: string, isLive: () => boolean, options: LogOptions): AsyncGenerator<Uint8Array> {
  let file = await openLog(path);
  try {
    let position = file === undefined || options.tail === undefined ? 0 : await tailStart(file, options.tail);
    let wait = FIRST_LOOK_MS;
    for (;;) {
      // Asked before reading: what is written before the end is there to be read once the end is known.
      const live = options.follow === true && isLive();
      file ??= await openLog(path);
      const before = position;
      while (file !== undefined) {
        const { bytesRead, buffer } = await file.read({ buffer: Buffer.allocUnsafe(BLOCK_BYTES), position });
        if (bytesRead === 0) break;
        position += bytesRead;
        yield buffer.subarray(0, bytesRead);
      }
      if (!live) return;
      wait = position > before ? FIRST_LOOK_MS : Math.min(wait * 1.5, SLOWEST_LOOK_MS);
      await sleep(wait, undefined, options.signal === undefined ? {} : { signal: options.signal });
    }
  } finally {
    await file?.close();
  }
}

async function openLog(path: string): Promise<FileHandle | undefined> {
  try {
    return await open(path, 'r');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

/** Where the last `lines` lines begin, found in blocks from the end; the newline that ends the file begins no line. */
async function tailStart(file: FileHandle, lines: number): Promise<number> {
  const { size } = await file.stat();
  if (lines === 0) return size;
  const buffer = Buffer.allocUnsafe(BLOCK_BYTES);
  let missing = lines;
  for (let end = size; end > 0; ) {
    const start = Math.max(0, end - BLOCK_BYTES);
    const { bytesRead } = await file.read(buffer, 0, end - start, start);
    for (let at = bytesRead - 1; at >= 0; at--) {
      if (buffer[at] !== 10 || start + at === size - 1) continue;
      missing--;
      if (missing === 0) return start + at + 1;
    }
    end = start;
  }
  return 0;
}
