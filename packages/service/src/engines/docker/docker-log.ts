import { open } from 'node:fs/promises';
import type { StorageAccess } from '../../storage/storage-access.ts';
import { MOST_END_BYTES } from '../limit-log.ts';
import type { DockerApi } from './docker-api.ts';

/**
 * Appends a container's output to `logPath` until the container has ended. The daemon's log begins with the first byte, so
 * the bytes that the file already contains are skipped: after a restart no output is lost or repeated. If the output exceeds
 * `limitBytes`, its end is written only without `follow`, when all of it can be read.
 */
export async function followDockerLog(api: DockerApi, name: string, options: LogOptions): Promise<void> {
  const { storage } = options;
  const file = await storage.inThread(() => open(options.logPath, 'a'));
  const append = (bytes: Uint8Array) => storage.inThread(() => file.appendFile(bytes));
  try {
    let skip = (await storage.inThread(() => file.stat())).size;
    const body = await api.stream('GET', `/containers/${name}/logs`, {
      query: { follow: String(options.follow ?? true), stdout: 'true', stderr: 'true' },
      signal: options.signal,
    });
    const beginning = options.limitBytes === undefined ? Number.POSITIVE_INFINITY : options.limitBytes - MOST_END_BYTES;
    // The end has already been written.
    if (skip > beginning) return;
    let capacity = beginning - skip;
    let later = 0;
    let end = Buffer.alloc(0);
    for await (const bytes of payloads(body)) {
      const rest = skip > 0 ? bytes.subarray(skip) : bytes;
      skip = Math.max(0, skip - bytes.length);
      const fitting = rest.subarray(0, capacity);
      capacity -= fitting.length;
      if (fitting.length > 0) await append(fitting);
      later += rest.length - fitting.length;
      if (fitting.length < rest.length)
        end = Buffer.concat([end, rest.subarray(fitting.length)]).subarray(-MOST_END_BYTES);
    }
    if (later > 0 && options.follow === false) {
      const left = later - end.length;
      const line = `\n[sluice] the log has reached its limit of ${options.limitBytes} bytes; ${left} bytes were left out here\n`;
      await append(Buffer.concat([Buffer.from(line), end]));
    }
  } finally {
    await storage.inThread(() => file.close());
  }
}

interface LogOptions {
  readonly logPath: string;
  readonly limitBytes?: number | undefined;
  /** Of the log. */
  readonly storage: StorageAccess;
  readonly signal: AbortSignal;
  /** Default true; false reads only the output so far. */
  readonly follow?: boolean;
}

/**
 * Extracts the payloads from the output of a container without a terminal. A frame has a header of eight bytes (stream,
 * three zeros, length as 32-bit big-endian) and a payload (Engine API, "Attach to a container"). Payloads are yielded in
 * pieces as they arrive, so large frames are not buffered.
 */
export async function* payloads(body: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  const header = new Uint8Array(8);
  let have = 0;
  let left = 0;
  for await (const chunk of body) {
    let at = 0;
    while (at < chunk.length) {
      if (left > 0) {
        const piece = chunk.subarray(at, at + left);
        left -= piece.length;
        at += piece.length;
        yield piece;
      } else {
        const piece = chunk.subarray(at, at + header.length - have);
        header.set(piece, have);
        have += piece.length;
        at += piece.length;
        if (have === header.length) {
          left = new DataView(header.buffer).getUint32(4);
          have = 0;
        }
      }
    }
  }
}
