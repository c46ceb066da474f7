import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import { randomId } from '../protocol/random-id.ts';

/** A login for a volume in plain text, which is shown only once. */
export interface TransferLogin {
  readonly username: string;
  readonly password: string;
}

/** Creates a new login; the password has 192 random bits. */
export function createTransferLogin(): TransferLogin {
  return { username: `v-${randomId(16)}`, password: randomBytes(24).toString('base64url') };
}

/**
 * The hash of a password that is stored. One SHA-256 is enough: slow hashes protect weak passwords, but 192 random bits
 * cannot be guessed, and scrypt would take 65 ms per WebDAV request.
 */
export function hashTransferPassword(password: string): string {
  return createHash('sha256').update(password).digest('hex');
}

/** Compares in constant time. */
export function isTransferPassword(password: string, hash: string): boolean {
  return timingSafeEqual(Buffer.from(hashTransferPassword(password), 'hex'), Buffer.from(hash, 'hex'));
}
