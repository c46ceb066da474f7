import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { expect } from 'vitest';

/** One piece of the runner's source, and what it becomes. */
export interface SourceChange {
  /** Relative to the runner's `src`; `../../run/src/…` and `../../home/src/…` for the packages that the runner stands on. */
  readonly file: string;
  /** Stands exactly once in the file. */
  readonly find: string;
  readonly replace: string;
}

const PACKAGE = path.resolve(import.meta.dirname, '../..');
const SOURCE = path.join(PACKAGE, 'src');
/** The packages whose modules are copied, by the name that others import them with. */
const LOWER = new Map(['run', 'home'].map((name) => [`@sluice/${name}`, path.resolve(PACKAGE, `../${name}/src`)]));
const COPIES = path.join(PACKAGE, '.cache', `planted-${process.pid}`);

/**
 * Makes a copy of the runner with the bug in it. Gives what loads a module of the copy. Modules that do not depend on the
 * changed file are those of the runner itself: loading all of them again for each bug takes longer than finding it.
 */
export async function plantBug(
  { file, find, replace }: SourceChange,
  name: string,
): Promise<(module: string) => Promise<unknown>> {
  const copy = path.join(COPIES, name, 'runner/src');
  const sources = await readSources();
  const copied = findDependents(sources, path.join(SOURCE, file));
  for (const original of copied) {
    let text = sources.get(original) ?? '';
    if (original === path.join(SOURCE, file)) {
      expect(text.split(find), `${file} has the place for the bug once`).toHaveLength(2);
      text = text.replace(find, () => replace);
    }
    const shared = text.replace(OWN_IMPORT, (all, before: string, specifier: string) => {
      const target = resolveImport(original, specifier);
      if (!copied.has(target)) return specifier.startsWith('.') ? `${before}${target}'` : all;
      return specifier.startsWith('.') ? all : `${before}${path.join(copy, path.relative(SOURCE, target))}'`;
    });
    const place = path.join(copy, path.relative(SOURCE, original));
    await mkdir(path.dirname(place), { recursive: true });
    await writeFile(place, shared);
  }
  return (module) =>
    import(/* @vite-ignore */ path.join(copied.has(path.join(SOURCE, module)) ? copy : SOURCE, module));
}

/** An import of a module of these packages. */
const OWN_IMPORT = /^((?:import|export|\}) .*from '|import ')(\.[^']+|@sluice\/(?:run|home))'/gm;

function resolveImport(importer: string, specifier: string): string {
  const lower = LOWER.get(specifier);
  return lower === undefined ? path.resolve(path.dirname(importer), specifier) : path.join(lower, 'index.ts');
}

/** The texts of the modules by their absolute paths; read once. */
let known: Promise<Map<string, string>> | undefined;

function readSources(): Promise<Map<string, string>> {
  known ??= Promise.all([SOURCE, ...LOWER.values()].map(listModules)).then(async (files) => {
    const texts = files.flat().map(async (one) => [one, await readFile(one, 'utf8')] as const);
    return new Map(await Promise.all(texts));
  });
  return known;
}

async function listModules(directory: string): Promise<string[]> {
  const names = await readdir(directory, { recursive: true });
  return names.filter((name) => name.endsWith('.ts')).map((name) => path.join(directory, name));
}

/** The file, and every module that imports it or imports one that does. */
function findDependents(sources: ReadonlyMap<string, string>, file: string): ReadonlySet<string> {
  const importers = new Map<string, string[]>();
  for (const [importer, text] of sources) {
    for (const [, , specifier = ''] of text.matchAll(OWN_IMPORT)) {
      const target = resolveImport(importer, specifier);
      importers.set(target, [...(importers.get(target) ?? []), importer]);
    }
  }
  const found = new Set([file]);
  for (const one of found) for (const importer of importers.get(one) ?? []) found.add(importer);
  return found;
}

/** Removes every copy that this process has made. */
export function removePlants(): Promise<void> {
  return rm(COPIES, { recursive: true, force: true });
}
