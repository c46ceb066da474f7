import { randomBytes } from 'node:crypto';
import { readFileSync, statSync } from 'node:fs';
import { createFile, isSystemError } from '@sluice/host-system';

const KEY_BYTES = 32;

/** Reads a key, in Base64. Undefined: there is no such file. Throws if it cannot be used. */
export function readRunKey(path: string): Uint8Array | undefined {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
    if ((statSync(path).mode & 0o007) !== 0) throw new Error(`other users may read ${path}; its mode must be 0600`);
  } catch (error) {
    if (isSystemError(error, 'ENOENT')) return undefined;
    throw error;
  }
  const key = Buffer.from(text, 'base64');
  if (key.length === KEY_BYTES) return key;
  throw new Error(`${path} does not contain a key of ${KEY_BYTES} bytes in Base64`);
}

/** Reads a key, and creates it if there is none. Of several processes, one creates it. */
export async function createRunKey(path: string): Promise<Uint8Array> {
  const known = readRunKey(path);
  if (known !== undefined) return known;
  await createFile(path, `${randomBytes(KEY_BYTES).toString('base64')}\n`);
  return readRunKey(path)!;
}
