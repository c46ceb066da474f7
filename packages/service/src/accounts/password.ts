import { createHash, randomBytes, scrypt, timingSafeEqual } from 'node:crypto';
import type { PasswordHash } from '../store/user-row.ts';

/** 65 ms and 16 MiB each on a common machine. */
const LOG_N = 14;
const KEY_BYTES = 32;
/** More at once would take the thread pool from everything else. */
const MAX_AT_ONCE = 2;

/** What the wire calls a password: the MD5 of the raw one, in hexadecimal. */
export function wirePassword(raw: string): string {
  return createHash('md5').update(raw).digest('hex');
}

/** The form in which a wire password is kept. */
export async function hashPassword(password: string): Promise<PasswordHash> {
  const salt = randomBytes(16);
  const hash = await derive(password, salt, LOG_N);
  return { salt: salt.toString('base64'), hash: hash.toString('base64'), logN: LOG_N };
}

/** Whether `password` is the one kept. Without one it takes as long and says no, so that time tells nothing. */
export async function isPassword(password: string, kept: PasswordHash | undefined): Promise<boolean> {
  const { salt, hash, logN } = kept ?? UNKNOWN_USER;
  const derived = await derive(password, Buffer.from(salt, 'base64'), logN);
  return timingSafeEqual(derived, Buffer.from(hash, 'base64')) && kept !== undefined;
}

const UNKNOWN_USER: PasswordHash = {
  salt: randomBytes(16).toString('base64'),
  hash: randomBytes(KEY_BYTES).toString('base64'),
  logN: LOG_N,
};

let running = 0;
const waiting: (() => void)[] = [];

/** How many passwords wait to be derived: what a login endpoint looks at to turn a flood away. */
export function passwordsWaiting(): number {
  return waiting.length;
}

async function derive(password: string, salt: Buffer, logN: number): Promise<Buffer> {
  if (running >= MAX_AT_ONCE) await new Promise<void>((resolve) => waiting.push(resolve));
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
