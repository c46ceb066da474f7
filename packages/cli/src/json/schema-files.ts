import { readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';

/** The schemas of files; the others are those of what `--json` prints. */
const OF_FILES = ['pipeline', 'profile', 'service'];

/** The names of the JSON Schemas in the package: first those of files. */
export function listSchemas(): readonly string[] {
  const known = readdirSync(findDirectory()).map((file) => file.replace(/\.json$/, ''));
  return [...OF_FILES, ...known.filter((name) => !OF_FILES.includes(name)).sort()];
}

/** The text of a schema of `listSchemas`. */
export function readSchema(name: string): string {
  return readFileSync(join(findDirectory(), `${name}.json`), 'utf8');
}

/** The command is a bundle, which is not beside the schemas. */
function findDirectory(): string {
  return dirname(createRequire(import.meta.url).resolve('sluice/schemas/pipeline.json'));
}
