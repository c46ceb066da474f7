import path from 'node:path';
import { type AxisFiles, type Diagnostic, own, type Pipeline } from '@sluice/core';
import { systemErrorCode } from '@sluice/host-system';
import { listSource } from '../trees/list-source.ts';
import { compileGlob } from './compile-glob.ts';

/** The files of the axes whose items are files of a source. */
export interface ListedAxes {
  readonly files: AxisFiles;
  /** Why a source could not be listed (an error), or a pattern that no file matches (a warning). */
  readonly diagnostics: readonly Diagnostic[];
}

/**
 * Lists the sources of such axes, for `createPlan`; `baseDir` is the directory of the pipeline file. A link to a file
 * counts as a file. A source that does not exist has no files: every command that needs it says so.
 */
export async function listAxisFiles({ axes = {}, volumes }: Pipeline, baseDir: string): Promise<ListedAxes> {
  const files = new Map<string, readonly string[]>();
  const diagnostics: Diagnostic[] = [];
  /** By volume: several axes can be over the files of one. */
  const listed = new Map<string, Promise<readonly string[]>>();
  for (const [name, axis] of Object.entries(axes)) {
    if (axis.files === undefined) continue;
    const { volume, pattern } = axis.files;
    const { source, exclude } = own(volumes, volume) ?? {};
    if (source === undefined) continue;
    const local = path.resolve(baseDir, source);
    const list = listed.get(volume) ?? listPaths(local, { baseDir, ...(exclude && { exclude }) });
    listed.set(volume, list);
    const glob = compileGlob(pattern);
    try {
      const matching = (await list).filter((file) => glob.match(file).isMatch);
      files.set(name, matching);
      if (matching.length > 0) continue;
      const message = `axis \`${name}\` has no items: no file in ${local} matches \`${pattern}\``;
      diagnostics.push({ code: 'bad-axis', severity: 'warning', message });
    } catch (error) {
      const message = `axis \`${name}\`: could not list ${local}: ${(error as Error).message}`;
      diagnostics.push({ code: 'bad-axis', severity: 'error', message });
    }
  }
  return { files: Object.fromEntries(files), diagnostics };
}

async function listPaths(
  source: string,
  { baseDir, exclude }: { readonly baseDir: string; readonly exclude?: readonly string[] },
): Promise<readonly string[]> {
  try {
    const { files, links } = await listSource(source, {
      home: path.join(baseDir, '.sluice'),
      ...(exclude && { exclude }),
    });
    const linked = links.filter(({ reaches }) => reaches === 'file');
    return [...files, ...linked].map((file) => file.path).sort((a, b) => (a < b ? -1 : 1));
  } catch (error) {
    if (systemErrorCode(error) === 'ENOENT') return [];
    throw error;
  }
}
