import { createHash } from 'node:crypto';
import type { VolumeFiles } from '@sluice/client';

/** The SHA-256 of a file of a volume, which is read as a stream; hexadecimal. Throws `ServiceError`. */
export async function hashFile(files: VolumeFiles, path: string): Promise<string> {
  const hash = createHash('sha256');
  for await (const chunk of await files.read(path)) hash.update(chunk);
  return hash.digest('hex');
}
