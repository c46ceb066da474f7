import type { VolumeFiles } from '@sluice/client';
import type { Step } from '@sluice/core';
import type { Clock } from '@sluice/home';
import { allowAbsent } from '../trees/list-tree.ts';
import { compileGlob, type Glob } from './compile-glob.ts';

/** Of patterns before other work of the process continues: about 20 ms. */
const STEPS_PER_TURN = 250_000;

/**
 * A message about the first pattern of `expect` that no file of an attempt's outputs matches. Costs one list request for
 * each directory that a pattern can reach, and none for outputs without `expect`. `locate` returns an output's directory;
 * if it is absent, it was already checked and published.
 */
export async function findUnmatched(
  files: VolumeFiles,
  {
    outputs,
    locate,
    defer,
  }: {
    readonly outputs: Step['outputs'];
    readonly locate: (output: string) => string;
    readonly defer: Clock['defer'];
  },
): Promise<string | undefined> {
  let steps = 0;
  for (const [name, { path, expect }] of Object.entries(outputs)) {
    if (expect === undefined || (await files.stat(locate(name))) === undefined) continue;
    const open = new Map<string, Glob>(expect.map((pattern) => [pattern, compileGlob(pattern)]));
    const isDeep = expect.some((pattern) => pattern.includes('/') || pattern.includes('**'));
    for await (const file of walkFiles(files, locate(name), isDeep)) {
      for (const [pattern, glob] of open) {
        const matched = glob.match(file);
        if (matched.isMatch) open.delete(pattern);
        steps += matched.steps;
        if (steps < STEPS_PER_TURN) continue;
        steps = 0;
        await new Promise<void>(defer);
      }
      if (open.size === 0) break;
    }
    const [missing] = open.keys();
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
