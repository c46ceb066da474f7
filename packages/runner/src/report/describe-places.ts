import path from 'node:path';
import type { OutputReport } from './run-report.ts';

/** Where an output lies, in one line: as `<volume>:<path>`, and how many cells lie there; they may lie in several places. */
export function describePlaces({ places }: Pick<OutputReport, 'places'>): string {
  const [only] = places;
  if (only === undefined) return 'no cells';
  if (only.cell === '') return `${only.volumeID}:${only.path}`;
  const parents = new Map<string, number>();
  for (const { volumeID, path: at } of places) {
    const parent = `${volumeID}:${path.posix.dirname(at)}`;
    parents.set(parent, (parents.get(parent) ?? 0) + 1);
  }
  const all = [...parents].map(([parent, cells]) => `${parent} (${cells} ${cells === 1 ? 'cell' : 'cells'})`);
  return all.length > SHOWN ? `${all.slice(0, SHOWN).join(', ')} and ${all.length - SHOWN} more` : all.join(', ');
}

/** Places that are named; the cells of a long history of runs may have a hundred. */
const SHOWN = 3;
