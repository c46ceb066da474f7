import type { Json } from '../model/json.ts';
import type { Path } from './source-document.ts';

/** A copy without what stands at `paths`, so that the rest can still be checked. A list goes as a whole: its indexes are places. */
export function prune(value: Json, paths: readonly Path[]): Json {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  const gone = new Set<string>();
  const below = new Map<string, Path[]>();
  for (const [key, ...rest] of paths) {
    if (key === undefined) continue;
    const name = String(key);
    const deeper = below.get(name);
    if (rest.length === 0) gone.add(name);
    else if (deeper === undefined) below.set(name, [rest]);
    else deeper.push(rest);
  }
  const kept: [string, Json][] = [];
  for (const [key, inner] of Object.entries(value)) {
    const deeper = below.get(key);
    if (gone.has(key)) continue;
    if (deeper === undefined) kept.push([key, inner]);
    else if (typeof inner === 'object' && inner !== null && !Array.isArray(inner))
      kept.push([key, prune(inner, deeper)]);
  }
  return Object.fromEntries(kept);
}
