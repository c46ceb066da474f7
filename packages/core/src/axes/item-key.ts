import type { Json } from '../model/json.ts';
import { numberWord } from '../plan/cell-key.ts';

/** The text of a key: numbers as in the names of cells (`0.5` is `0p5`). Undefined for a list, a map and null. */
export function keyText(value: Json): string | undefined {
  if (typeof value === 'string') return value;
  if (typeof value === 'number') return numberWord(value);
  return typeof value === 'boolean' ? String(value) : undefined;
}
