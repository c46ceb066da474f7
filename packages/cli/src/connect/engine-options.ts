import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { isSystemError, replaceFile } from '@sluice/host-system';
import type { EmbeddedEngine } from './embedded-engine.ts';

const FILE = 'options.json';

/** Records the options with which the caller runs the service of `root`. The caller holds its claim. */
export async function recordOptions(root: string, { name, options }: EmbeddedEngine): Promise<void> {
  if (name !== 'local') await replaceFile(join(root, FILE), `${JSON.stringify(options)}\n`);
}

/**
 * Throws if the process that runs the service of `root` has other options of the engine than the caller: the caller's
 * containers would get those.
 */
export async function checkSameOptions(root: string, { name, options }: EmbeddedEngine): Promise<void> {
  // Outside of a job, commands only read what its runs have left.
  if (name === 'local' || (name === 'slurm-job' && options.job === undefined)) return;
  const used = await readOptions(root);
  if (isDeepStrictEqual(used, JSON.parse(JSON.stringify(options)))) return;
  const what = `another process runs it with other options of the engine ${name}: ${JSON.stringify(used)}, and not ${JSON.stringify(options)}`;
  throw new Error(`${what}; wait for its runs, or use another home with --home`);
}

async function readOptions(root: string): Promise<unknown> {
  try {
    return JSON.parse(await readFile(join(root, FILE), 'utf8'));
  } catch (error) {
    if (isSystemError(error, 'ENOENT')) return {};
    throw error;
  }
}
