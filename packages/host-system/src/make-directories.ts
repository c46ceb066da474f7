import { mkdir, stat } from 'node:fs/promises';
import path from 'node:path';
import { isSystemError } from './system-error.ts';

/**
 * Makes a directory and those above it. Returns the first one that it made, as `mkdir` with `recursive` does. That one
 * never returns where a file system refuses new names with ENOENT, as `/proc` does; this one throws.
 */
export async function makeDirectories(directory: string, mode = 0o777): Promise<string | undefined> {
  try {
    return await makeOne(directory, mode);
  } catch (error) {
    const above = path.dirname(directory);
    if (!isSystemError(error, 'ENOENT') || above === directory) throw error;
    const first = await makeDirectories(above, mode);
    const made = await makeOne(directory, mode);
    return first ?? made;
  }
}

/** Undefined where the directory is there already. */
async function makeOne(directory: string, mode: number): Promise<string | undefined> {
  try {
    await mkdir(directory, mode);
    return directory;
  } catch (error) {
    if (!isSystemError(error, 'EEXIST')) throw error;
    if (!(await stat(directory)).isDirectory()) throw error;
    return undefined;
  }
}
