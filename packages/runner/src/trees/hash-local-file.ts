import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { pipeline } from 'node:stream/promises';

/** The SHA-256 of the first `size` bytes of a local file, by default of all; hexadecimal. Throws Node's own errors. */
export async function hashLocalFile(file: string | Buffer, size = Number.POSITIVE_INFINITY): Promise<string> {
  const hash = createHash('sha256');
  // A stream cannot end before its first byte.
  if (size > 0) await pipeline(createReadStream(file, { end: size - 1 }), hash);
  return hash.digest('hex');
}
