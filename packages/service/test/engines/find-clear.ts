import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** The files below a directory that contain a value in clear. */
export function findClear(directory: string, value: string): string[] {
  const entries = readdirSync(directory, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile()).map(({ parentPath, name }) => join(parentPath, name));
  return files.filter((file) => readFileSync(file).includes(value));
}
