import { cp, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { expect } from 'vitest';

/** One piece of the runner's source, and what it becomes. */
export interface SourceChange {
  /** Relative to `src`. */
  readonly file: string;
  /** Stands exactly once in the file. */
  readonly find: string;
  readonly replace: string;
}

const PACKAGE = path.resolve(import.meta.dirname, '../..');
const COPIES = path.join(PACKAGE, '.cache', `planted-${process.pid}`);

/** Makes a copy of the runner with the bug in it. Gives what loads a module of the copy. */
export async function plantBug(
  { file, find, replace }: SourceChange,
  name: string,
): Promise<(module: string) => Promise<unknown>> {
  const copy = path.join(COPIES, name, 'src');
  await mkdir(copy, { recursive: true });
  const isSource = (one: string) => !one.endsWith('tsconfig.json');
  await cp(path.join(PACKAGE, 'src'), copy, { recursive: true, filter: isSource });
  const target = path.join(copy, file);
  const text = await readFile(target, 'utf8');
  expect(text.split(find), `${file} has the place for the bug once`).toHaveLength(2);
  await writeFile(
    target,
    text.replace(find, () => replace),
  );
  return (module) => import(/* @vite-ignore */ path.join(copy, module));
}

/** Removes every copy that this process has made. */
export function removePlants(): Promise<void> {
  return rm(COPIES, { recursive: true, force: true });
}
