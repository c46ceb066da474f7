import { createHash, randomBytes, scrypt, timingSafeEqual } from 'node:crypto';
import type { PasswordHash } from '../store/user-row.ts';

/** 65 ms and 16 MiB each on a common machine. */
const LOG_N = 14;
const KEY_BYTES = 32;
/** Limits the use of Node's thread pool, which other work needs too. */
const MAX_CONCURRENT = 2;

/** The password as sent on the wire: the MD5 of the raw password, in hexadecimal. */
export function wirePassword(raw: string): string {
  return createHash('md5').update(raw).digest('hex');
}

/** Hashes a wire password for the store, with a new salt. */
export async function hashPassword(password: string): Promise<PasswordHash> {
  const salt = randomBytes(16);
  const hash = await derive(password, salt, LOG_N);
  return { salt: salt.toString('base64'), hash: hash.toString('base64'), logN: LOG_N };
}

/** Whether `password` matches the stored hash. Without a hash it takes the same time and returns false. */
export async function isPassword(password: string, stored: PasswordHash | undefined): Promise<boolean> {
  const { salt, hash, logN } = stored ?? UNKNOWN_USER;
  const derived = await derive(password, Buffer.from(salt, 'base64'), logN);
  return timingSafeEqual(derived, Buffer.from(hash, 'base64')) && stored !== undefined;
}

const UNKNOWN_USER: PasswordHash = {
  salt: randomBytes(16).toString('base64'),
  hash: randomBytes(KEY_BYTES).toString('base64'),
  logN: LOG_N,
};

let running = 0;
const waiting: (() => void)[] = [];

/** The number of passwords that wait to be hashed; the login endpoint uses it to reject a flood of requests. */
export function passwordsWaiting(): number {
  return waiting.length;
}

async function derive(password: string, salt: Buffer, logN: number): Promise<Buffer> {
  if (running >= MAX_CONCURRENT) await new Promise<void>((resolve) => waiting.push(resolve));
  running++;
  try {
    return await new Promise((resolve, reject) => {
      const options = { N: 2 ** logN, maxmem: 256 * 2 ** logN * 8 };
      scrypt(password, salt, KEY_BYTES, options, (error, key) => (error ? reject(error) : resolve(key)));
    });
  } finally {
    running--;
    waiting.shift()?.();
  }
}
