import { ok, type Result } from '@sluice/core';
import type { CacheSource } from '@sluice/run';
import { listItems } from '../session/list-items.ts';
import type { Posted } from '../session/posted.ts';

/**
 * The event of a cell that reuses a success, with what it lists. The error says what is wrong with a list: the cell has to run,
 * and then fails by its own.
 */
export function createHit(
  run: Parameters<typeof listItems>[0],
  { at, ...cell }: { readonly at: number; readonly step: number; readonly cell: number },
  source: CacheSource,
): Result<Posted, string> {
  const listed = listItems(run, cell, source.results);
  if (!listed.ok) return listed;
  const { event, facts } = listed.value;
  return ok({ event: { type: 'cacheHit', at, ...cell, ...event }, facts: { cached: source, ...facts } });
}
