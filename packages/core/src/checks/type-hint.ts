import { stringify } from 'yaml';
import { toText } from '../expressions/template.ts';
import type { Json } from '../model/json.ts';
import { own } from '../model/own.ts';
import type { Path } from '../parse/source-document.ts';

/** How to write a value that has the type `wanted`, in the words of the message; empty if there is no advice. */
export function typeHint(found: Json, { wanted, path }: { wanted: string; path: Path }): { hint?: string } {
  const key = path.at(-1);
  if (
    /^true(?:,| or) false/.test(wanted) &&
    typeof found === 'string' &&
    own(FLAGS, found.toLowerCase()) !== undefined
  ) {
    return { hint: `write ${key}: ${own(FLAGS, found.toLowerCase())}` };
  }
  if (wanted.startsWith('one of ') && typeof found === 'string' && own(FOREIGN_TYPES, found) !== undefined) {
    return { hint: `use \`${own(FOREIGN_TYPES, found)}\`` };
  }
  if (wanted === 'a list' && typeof found === 'string') return { hint: `write a list: ${key}: ${inYaml([found])}` };
  if (wanted === 'a string' && (typeof found === 'number' || typeof found === 'boolean')) {
    // 010, 1.0 and 1e3 are different values than their text, and only the file has that text.
    return {
      hint:
        typeof found === 'number' ? 'put it in quotes, exactly as it is written here' : `put it in quotes: "${found}"`,
    };
  }
  if (key === 'env' && Array.isArray(found)) {
    return { hint: `write a map: env: ${inYaml(variablesOf(found))}` };
  }
  if (key === 'steps' && Array.isArray(found)) return { hint: 'write a map: the key of each step is its name' };
  return {};
}

/** In one line, quoted where the checks would otherwise find another type. */
function inYaml(value: Json): string {
  const padding = !Array.isArray(value);
  return stringify(value, { collectionStyle: 'flow', flowCollectionPadding: padding, lineWidth: 0 }).trim();
}

const SHOWN_VARIABLES = 3;

/** The variables of a list with `NAME=value`, `{ name: NAME, value: value }` or `{ NAME: value }`, as in other systems. */
function variablesOf(list: readonly Json[]): Json {
  const pairs = list.slice(0, SHOWN_VARIABLES).flatMap((item): [string, string][] => {
    if (typeof item === 'string') {
      const [, name = item, value = 'value'] = /^([^=]*)=(.*)$/s.exec(item) ?? [];
      return [[name, value]];
    }
    if (typeof item !== 'object' || item === null || Array.isArray(item)) return [];
    const map = item as Readonly<Record<string, Json>>;
    const name = own(map, 'name');
    if (typeof name === 'string') return [[name, toText(own(map, 'value') ?? 'value')]];
    return Object.entries(map).map(([key, value]) => [key, toText(value)]);
  });
  return Object.fromEntries(pairs.length === 0 ? [['NAME', 'value']] : pairs);
}

/** Words that other formats read as booleans; they are strings in YAML 1.2. */
const FLAGS: Readonly<Record<string, string>> = {
  yes: 'true',
  on: 'true',
  y: 'true',
  true: 'true',
  no: 'false',
  off: 'false',
  n: 'false',
  false: 'false',
};

/** Names of types in other languages, and the type of a pipeline. */
export const FOREIGN_TYPES: Readonly<Record<string, string>> = {
  float: 'number',
  double: 'number',
  int: 'integer',
  long: 'integer',
  str: 'string',
  text: 'string',
  bool: 'boolean',
  list: 'array',
  map: 'object',
  dict: 'object',
};
