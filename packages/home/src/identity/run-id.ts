import { randomBytes } from 'node:crypto';
import { base32 } from './base32.ts';

/** Characters of a run's ID: 65 random bits, so that no two runs ever have the same one. */
const LENGTH = 13;

/** A new run's ID: `[a-z2-7]`, 13 characters. */
export function createRunId(): string {
  return base32(randomBytes(9), LENGTH);
}

/** Whether `text` can be the ID of a run. */
export function isRunId(text: string): boolean {
  return /^[a-z2-7]{13}$/.test(text);
}
