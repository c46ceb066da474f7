import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import { randomID } from '../host/random-id.ts';

/** A login of the transfer service as it is given out, once. */
export interface TransferLogin {
  readonly username: string;
  readonly password: string;
}

/** A fresh login; 192 random bits make the password. */
export function createTransferLogin(): TransferLogin {
  return { username: `v-${randomID(16)}`, password: randomBytes(24).toString('base64url') };
}

/**
 * What is stored of the password. One SHA-256 is enough: a slow hash makes guessing of weak passwords dear, and 192
 * random bits cannot be guessed; scrypt would cost each WebDAV request 65 ms.
 */
export function hashTransferPassword(password: string): string {
  return createHash('sha256').update(password).digest('hex');
}

/** Compares in constant time. */
export function isTransferPassword(password: string, hash: string): boolean {
  return timingSafeEqual(Buffer.from(hashTransferPassword(password), 'hex'), Buffer.from(hash, 'hex'));
}
