import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { readRegularFile } from './read-regular-file.ts';
import { isSensitiveName } from './sensitive-name.ts';

/** Shorter values would occur everywhere. */
const SHORTEST = 4;
/** Of values that are only probably credentials, by their name. */
const SHORTEST_BY_NAME = 8;
const MAX_FILE = 1 << 20;

/** Where secrets of a user are. */
export interface SecretPlaces {
  readonly env: NodeJS.ProcessEnv;
  /** Undefined: the home may not be read. */
  readonly home: string | undefined;
  /** Files with one credential each, which the profile names. */
  readonly files: readonly string[];
  /** Parsed files that may contain credentials, such as the plan of a run. */
  readonly values: readonly unknown[];
}

/** The values that a bundle must not contain, as far as they can be found. */
export function collectSecrets({ env, home, files, values }: SecretPlaces): ReadonlySet<string> {
  const declared = [
    ...Object.entries(env).flatMap(([name, value = '']) => (name.startsWith('SLUICE_SECRET_') ? [value] : [])),
    ...[...files, ...(home === undefined ? [] : listFiles(join(home, 'secrets')))].flatMap(readText),
  ];
  const stored = home === undefined ? [] : [...listFiles(join(home, 'credentials')), join(home, 'host', 'api.json')];
  const named = [env, ...values, ...stored.flatMap(readText).flatMap(parse)].flatMap(listNamed);
  return new Set([
    ...declared.map((value) => value.trim()).filter(({ length }) => length >= SHORTEST),
    ...named.filter(({ length }) => length >= SHORTEST_BY_NAME),
  ]);
}

/** The strings whose name is that of a credential, in any depth. */
function listNamed(value: unknown): readonly string[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, item]) => {
    if (typeof item !== 'string') return listNamed(item);
    return isSensitiveName(name) && !item.includes('${{') ? [item.trim()] : [];
  });
}

function listFiles(directory: string): readonly string[] {
  try {
    return readdirSync(directory).map((name) => join(directory, name));
  } catch {
    return [];
  }
}

function readText(path: string): readonly string[] {
  const read = readRegularFile(path, MAX_FILE);
  return read.ok ? [read.value.toString('utf8')] : [];
}

function parse(text: string): readonly unknown[] {
  try {
    return [JSON.parse(text)];
  } catch {
    return [];
  }
}
