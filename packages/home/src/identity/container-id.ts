import { hash } from 'node:crypto';
import type { AttemptName } from '@sluice/run';
import { base32 } from './base32.ts';

/** Characters of the step-and-cell hash: 60 bits. */
const HASH_LENGTH = 12;

/**
 * The only ID that the container of this attempt can have: idempotency key and lock in one. A letter, the run, the hash
 * of step and cell, the attempt; at least 29 characters, valid as a DNS label.
 */
export function containerId(name: AttemptName): string {
  const digest = hash('sha256', `${name.step}\0${name.cell}`, 'buffer');
  return `s${name.runId}-${base32(digest, HASH_LENGTH)}-${name.attempt}`;
}
