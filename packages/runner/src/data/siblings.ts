import { createHash } from 'node:crypto';
import type { Cell } from '@sluice/core';

/** A digest of the keys of a step's cells: equal for equal sets. */
export function describeSiblings(cells: readonly Cell[]): string {
  const keys = cells.map((cell) => cell.key).sort();
  return createHash('sha256').update(JSON.stringify(keys)).digest('hex').slice(0, 32);
}
