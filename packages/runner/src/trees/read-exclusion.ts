import { constants } from 'node:fs';
import { open, stat } from 'node:fs/promises';
import path from 'node:path';
import { bytesToName, printableName } from '@sluice/client';
import { findPatternFault, MAX_PATTERNS } from '@sluice/core';
import { isSystemError } from '@sluice/host-system';
import ignore from 'ignore';

/** What of a source is left out. */
export interface Exclusion {
  /** Whether an entry is left out, by itself or with a directory above it. `at` is relative to the source. */
  excludes(at: string, isDirectory: boolean): boolean;
}

/** The file with patterns, one a line, at the root of a source. It is never uploaded. */
const IGNORE_FILE = '.sluiceignore';
const MAX_BYTES = 64 * 1024;

/**
 * The exclusion of a source: by the patterns in its `.sluiceignore`, and by those of the pipeline, which come last, so that
 * they decide. Throws an error that says what is wrong, or Node's own errors.
 */
export async function readExclusion(root: string, patterns: readonly string[] | undefined): Promise<Exclusion> {
  const top = await stat(root);
  if (top.isFile() && patterns !== undefined) {
    throw new Error('it is a file, from which nothing can be excluded; remove `exclude`');
  }
  if (!top.isDirectory()) return { excludes: () => false };
  // Names are compared as they are, as in git on Linux: with their case, and without Unicode normalization.
  const matcher = ignore({ ignorecase: false }).add([...(await readPatterns(root)), ...(patterns ?? [])]);
  return {
    excludes: (at, isDirectory) => at === IGNORE_FILE || matcher.ignores(isDirectory ? `${at}/` : at),
  };
}

async function readPatterns(root: string): Promise<readonly string[]> {
  const bytes = await readIgnoreFile(root);
  if (bytes === undefined) return [];
  const lines = bytesToName(bytes)
    .replace(/^\uFEFF/, '')
    .split(/\r?\n/);
  const patterns: string[] = [];
  for (const [index, line] of lines.entries()) {
    if (line.startsWith('#') || /^ *$/.test(line)) continue;
    const fault = findPatternFault(line);
    if (fault !== undefined) {
      const shown = JSON.stringify(printableName(line.slice(0, 100)));
      throw new Error(`line ${index + 1} of its ${IGNORE_FILE}, ${shown}, is not a valid pattern: ${fault}`);
    }
    patterns.push(line);
  }
  if (patterns.length <= MAX_PATTERNS) return patterns;
  throw new Error(`its ${IGNORE_FILE} has more than ${MAX_PATTERNS} patterns; exclude whole directories`);
}

async function readIgnoreFile(root: string): Promise<Uint8Array | undefined> {
  try {
    // Opening a named pipe would otherwise wait for a writer.
    const file = await open(path.join(root, IGNORE_FILE), constants.O_RDONLY | constants.O_NONBLOCK);
    try {
      const stats = await file.stat();
      if (!stats.isFile()) throw new Error(`its ${IGNORE_FILE} is not a file; remove or rename it`);
      if (stats.size <= MAX_BYTES) return await file.readFile();
      throw new Error(`its ${IGNORE_FILE} is larger than ${MAX_BYTES / 1024} KiB; exclude whole directories`);
    } finally {
      await file.close();
    }
  } catch (error) {
    if (isSystemError(error, 'ENOENT')) return undefined;
    throw error;
  }
}
