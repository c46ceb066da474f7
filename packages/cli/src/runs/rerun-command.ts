import { resolve } from 'node:path';
import type { CommandContext, GlobalOptions } from '../context/command-context.ts';
import { repeatOptions } from '../context/suggest-command.ts';
import type { PipelineFileOptions } from '../pipeline/load-plan.ts';

interface RunWords extends GlobalOptions, PipelineFileOptions {
  readonly parallelism?: number;
  readonly wait?: boolean;
}

/**
 * The same run again with `--reuse`, as the user asked for it: another parameter would be another run. Secrets come from
 * the environment. Without the global options.
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

/** What a run keeps of the command that started it, with paths that hold in every directory; its home is not part of it. */
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
