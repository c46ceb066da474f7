import { resolve } from 'node:path';
import type { CommandContext, GlobalOptions } from '../context/command-context.ts';
import { repeatOptions } from '../context/suggest-command.ts';
import type { PipelineFileOptions } from '../pipeline/load-plan.ts';

interface RunWords extends GlobalOptions, PipelineFileOptions {
  readonly parallelism?: number;
  readonly wait?: boolean;
}

/**
 * The words that start the same run again with `--reuse` and the same parameters, without global options. Secrets come
 * from the environment and are not included.
 */
export function rerunCommand(file: string, options: RunWords): readonly string[] {
  return [
    ...['run', file, '--reuse'],
    ...Object.entries(options.param ?? {}).flatMap(([name, value]) => ['-p', `${name}=${value}`]),
    ...(options.root === undefined ? [] : ['--root', options.root]),
    ...(options.ignoreImages === true ? ['--ignore-images'] : []),
    ...(options.parallelism === undefined ? [] : ['--parallelism', String(options.parallelism)]),
    ...(options.wait === false ? ['--no-wait'] : []),
  ];
}

/**
 * The command that a run records for its rerun, with absolute paths, so that it works in every directory. The home is
 * not included.
 */
export function portableRerunCommand(
  file: string,
  { context: { cwd }, options }: { context: CommandContext; options: RunWords },
): readonly string[] {
  const { home: _, ...kept } = options;
  const absolute = {
    ...kept,
    ...(kept.root !== undefined && { root: resolve(cwd, kept.root) }),
    ...(kept.profile !== undefined && { profile: resolve(cwd, kept.profile) }),
  };
  return [...rerunCommand(resolve(cwd, file), absolute), ...repeatOptions(absolute)];
}
