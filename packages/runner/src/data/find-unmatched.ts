import type { VolumeFiles } from '@sluice/client';
import type { Step } from '@sluice/core';
import picomatch from 'picomatch';
import { allowAbsent } from '../trees/list-tree.ts';

/**
 * A message about the first pattern of `expect` that no file of an attempt's outputs matches. Costs one list request for
 * each directory that a pattern can reach, and none for outputs without `expect`. `locate` returns an output's directory;
 * if it is absent, it was already checked and published.
 */
export async function findUnmatched(
  files: VolumeFiles,
  { outputs, locate }: { readonly outputs: Step['outputs']; readonly locate: (output: string) => string },
): Promise<string | undefined> {
  for (const [name, { path, expect }] of Object.entries(outputs)) {
    if (expect === undefined || (await files.stat(locate(name))) === undefined) continue;
    const open = new Set(expect);
    const isDeep = expect.some((pattern) => pattern.includes('/') || pattern.includes('**'));
    for await (const file of walkFiles(files, locate(name), isDeep)) {
      for (const pattern of open) if (matches(pattern, file)) open.delete(pattern);
      if (open.size === 0) break;
    }
    const [missing] = open;
    if (missing !== undefined) {
      return `output ${name} (${path}): no file matches the expected pattern ${JSON.stringify(missing)}`;
    }
  }
  return undefined;
}

/** Paths of files and links, relative to the directory. */
async function* walkFiles(files: VolumeFiles, directory: string, isDeep: boolean): AsyncGenerator<string> {
  const open = [directory];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    for (const { path, kind, link } of await allowAbsent(files).list(next)) {
      if (kind === 'file' || link !== undefined) yield path.slice(directory.length + 1);
      else if (isDeep) open.push(path);
    }
  }
}

const matchers = new Map<string, (file: string) => boolean>();

function matches(pattern: string, file: string): boolean {
  // Without extended globs, so that no pattern takes exponential time.
  const matcher = matchers.get(pattern) ?? picomatch(pattern, { noextglob: true, nonegate: true });
  matchers.set(pattern, matcher);
  return matcher(file);
}
