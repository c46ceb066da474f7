import { mkdir, stat } from 'node:fs/promises';
import path from 'node:path';
import { isSystemError } from './system-error.ts';

/**
 * Creates a directory and its parents. Returns the first one created, as `mkdir` with `recursive` does. It exists because
 * that `mkdir` never returns on file systems that reject new names with ENOENT, such as `/proc`; this function throws.
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

/** Undefined if the directory exists. */
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
