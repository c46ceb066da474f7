import { readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';

/** The schemas of files; the others are those of what `--json` prints. */
const OF_FILES = ['pipeline', 'profile', 'service'];

/** The names of the JSON Schemas in the package: first those of files, unless only those of `values` are wanted. */
export function listSchemas(kind: 'all' | 'values' = 'all'): readonly string[] {
  const known = readdirSync(findDirectory()).map((file) => file.replace(/\.json$/, ''));
  const values = known.filter((name) => !OF_FILES.includes(name)).sort();
  return kind === 'values' ? values : [...OF_FILES, ...values];
}

/** The text of a schema of `listSchemas`. */
export function readSchema(name: string): string {
  return readFileSync(join(findDirectory(), `${name}.json`), 'utf8');
}

/** The command is a bundle, which is not beside the schemas. */
function findDirectory(): string {
  return dirname(createRequire(import.meta.url).resolve('sluice/schemas/pipeline.json'));
}
