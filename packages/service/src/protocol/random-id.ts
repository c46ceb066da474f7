import { randomBytes } from 'node:crypto';

const ALPHABET = 'abcdefghijklmnopqrstuvwxyz234567';

/** Returns `length` random characters of a to z and 2 to 7, with five bits each. */
export function randomId(length: number): string {
  let id = '';
  for (const byte of randomBytes(length)) id += ALPHABET[byte & 31];
  return id;
}
