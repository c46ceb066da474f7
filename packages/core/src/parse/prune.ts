import type { Json } from '../model/json.ts';
import type { Path } from './source-document.ts';

/** A copy without what stands at `path`, so that the rest can still be checked. A list goes as a whole: its indexes are places. */
export function prune(value: Json, path: Path): Json {
  const [key, ...rest] = path;
  if (key === undefined || typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  const map = value as Readonly<Record<string, Json>>;
  if (!Object.hasOwn(map, key)) return value;
  const inner = map[key] ?? null;
  const { [key]: _gone, ...others } = map;
  if (rest.length === 0 || typeof inner !== 'object' || inner === null || Array.isArray(inner)) return others;
  return { ...map, [key]: prune(inner, rest) };
}
