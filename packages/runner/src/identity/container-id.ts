import { hash } from 'node:crypto';
import { base32 } from './base32.ts';

/** Which attempt a container belongs to. */
export interface AttemptName {
  readonly runId: string;
  readonly step: string;
  /** Key of the cell, `''` for a plain step. */
  readonly cell: string;
  /** From 1. */
  readonly attempt: number;
}

/** Characters of the step-and-cell hash: 60 bits. */
const HASH_LENGTH = 12;

/**
 * The one ID that a container of this attempt can have: idempotency key and lock at once. A letter, the
 * run, the hash of step and cell, the attempt; 29 characters and up, safe as a DNS label.
 */
export function containerId(name: AttemptName): string {
  const digest = hash('sha256', `${name.step}\0${name.cell}`, 'buffer');
  return `s${name.runId}-${base32(digest, HASH_LENGTH)}-${name.attempt}`;
}
