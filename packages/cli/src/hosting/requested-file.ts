import { realpath } from 'node:fs/promises';
import { basename, dirname } from 'node:path';
import { isResult } from '@sluice/runner';
import { isBelow } from '../pipeline/is-below.ts';
import { listUsedFiles } from './list-pipelines.ts';

/** The directory of a project, below which runs that were requested by HTTP have their files and publish their outputs. */
export function findProject(home: string, cwd: string): string {
  return basename(home) === '.sluice' ? dirname(home) : cwd;
}

/**
 * Why a pipeline file, an absolute path, is not executed by a request over HTTP; undefined if it is. A pipeline has the rights
 * of its user, so files that containers or other users have written must not be executed.
 */
export async function findFileFault(
  file: string,
  { home, project }: { readonly home: string; readonly project: string },
): Promise<string | undefined> {
  const [real, root, own] = await Promise.all([file, project, home].map((path) => realpath(path).catch(() => path)));
  const place = await findPlaceFault(real!, { root: root!, own: own! });
  if (place === undefined || (await listUsedFiles(home)).includes(file)) return undefined;
  return `could not run ${file}: ${place}; start it once with \`sluice run\``;
}

/** Why a file with parameters is not read for a request over HTTP, whose errors quote it; undefined if it is. */
export async function findParamsFault(
  file: string,
  { home, project }: { readonly home: string; readonly project: string },
): Promise<string | undefined> {
  const [real, root, own] = await Promise.all([file, project, home].map((path) => realpath(path).catch(() => path)));
  const place = await findPlaceFault(real!, { root: root!, own: own! });
  return place === undefined ? undefined : `could not read ${file}: ${place}`;
}

async function findPlaceFault(
  file: string,
  { root, own }: { readonly root: string; readonly own: string },
): Promise<string | undefined> {
  if (!isBelow(file, root)) return `it is not below ${root}`;
  if (isBelow(file, own)) return 'it is in the home';
  for (let at = dirname(file); isBelow(at, root); at = dirname(at)) {
    if (await isResult(at)) return `a run has published it in ${at}`;
  }
  return undefined;
}
