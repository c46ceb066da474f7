import { createHash } from 'node:crypto';
import type { Json } from '@sluice/core';
import type { Tree } from './model-file.ts';

/** What a program yields: a plain function of what it is given, so that reuse must not change a byte. */
export interface Yield {
  /** Files by output. */
  readonly outputs: ReadonlyMap<string, Tree>;
  readonly results: { readonly n: number; readonly list: readonly string[] };
}

const WORDS = ['a', 'b', 'c', 'd'];

/**
 * The one program of the model test. `words` are its arguments after the expressions; what they point to stands in the place
 * of the pointer. `inputs` are the files of all inputs by mount point and path.
 */
export function runProgram(words: readonly Json[], inputs: Tree, outputs: readonly string[]): Yield {
  const digest = hash(JSON.stringify([words, [...inputs].map(([path, text]) => [path, normalize(path, text)]).sort()]));
  const of = (at: number) => Number.parseInt(digest[at]!, 16);
  const trees = outputs.map((output) => {
    const files = new Map([['data', `${digest} ${output}`]]);
    if (of(0) % 2 === 1) files.set('deep/more', `${digest} ${output} more`);
    return [output, files] as const;
  });
  const from = of(2) % WORDS.length;
  const list = [...WORDS.slice(from), ...WORDS.slice(0, from)].slice(0, of(3) % 4);
  return { outputs: new Map(trees), results: { n: of(1) % 6, list } };
}

/** A manifest counts by its content, whatever the order of its fields. */
function normalize(path: string, text: string): Json {
  return path.endsWith('/manifest.json') ? sortFields(JSON.parse(text) as Json) : text;
}

export function sortFields(value: Json): Json {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(sortFields);
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(entries.map(([key, item]) => [key, sortFields(item)]));
}

/** The files of a tree as one text, for programs that are given a place instead of an input. */
export function describeTree(tree: Tree): Json {
  return [...tree].sort(([a], [b]) => (a < b ? -1 : 1)).map(([path, text]) => [path, text]);
}

function hash(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 16);
}

/** How a container ends: without luck some fail and some are lost with their machine, always the same ones. */
export function drawEnd(
  luck: string,
  name: { step: string; cell: string; attempt: number },
): 'Succeeded' | 'Failed' | 'Unknown' {
  if (luck === '') return 'Succeeded';
  const value = Number.parseInt(hash(`${luck} ${name.step} ${name.cell}`).slice(0, 4), 16) % 12;
  if (value === 0) return 'Failed';
  if (value === 1 && name.attempt === 1) return 'Failed';
  if (value === 2 && name.attempt === 1) return 'Unknown';
  return 'Succeeded';
}
