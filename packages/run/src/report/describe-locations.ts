import type { OutputReport } from '../schemas/output.ts';

/** The location of an output in one line: `<volume>:<path>`, for a step with cells their parents and numbers of cells. */
export function describeLocations({ locations }: Pick<OutputReport, 'locations'>): string {
  const [only] = locations;
  if (only === undefined) return 'no cells';
  if (only.cell === '') return `${only.volumeId}:${only.path}`;
  const parents = new Map<string, number>();
  for (const { volumeId, path } of locations) {
    const parent = `${volumeId}:${path.slice(0, path.lastIndexOf('/'))}`;
    parents.set(parent, (parents.get(parent) ?? 0) + 1);
  }
  const all = [...parents].map(([parent, cells]) => `${parent} (${cells} ${cells === 1 ? 'cell' : 'cells'})`);
  return all.length > SHOWN ? `${all.slice(0, SHOWN).join(', ')} and ${all.length - SHOWN} more` : all.join(', ');
}

/** The most locations that are listed; cells reused from many runs may be in a hundred. */
const SHOWN = 3;
