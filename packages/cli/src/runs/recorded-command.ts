import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { selectHostedOptions } from '../connect/hosted-options.ts';
import type { CommandContext, GlobalOptions } from '../context/command-context.ts';
import { repeatOptions } from '../context/suggest-command.ts';
import type { PipelineFileOptions } from '../pipeline/load-plan.ts';

/** The options of `sluice run` that belong to a run, so that a rerun has them too. */
export interface RecordedOptions extends GlobalOptions, PipelineFileOptions {
  readonly parallelism?: number;
  readonly stopAtApproval?: boolean;
}

/**
 * The words of the command that started a run, which the run records. Paths are absolute, so that they hold in every
 * directory; a profile that is named stays a name. Variables that select the service become options: a rerun uses it
 * again, whatever its own variables say. The home is not included, and secrets come from the environment.
 */
export function recordCommand(
  file: string,
  { context, options }: { context: Pick<CommandContext, 'cwd' | 'env'>; options: RecordedOptions },
): readonly string[] {
  const { cwd } = context;
  const { home: _, ...others } = options;
  const shared = { ...others, ...selectHostedOptions(options, context) };
  return [
    ...['run', resolve(cwd, file)],
    ...Object.entries(options.param ?? {}).flatMap(([name, value]) => ['-p', `${name}=${value}`]),
    ...(options.root === undefined ? [] : ['--root', resolve(cwd, options.root)]),
    ...(options.ignoreImages === true ? ['--ignore-images'] : []),
    ...(options.parallelism === undefined ? [] : ['--parallelism', String(options.parallelism)]),
    ...(options.stopAtApproval === true ? ['--stop-at-approval'] : []),
    ...repeatOptions('run', shared),
  ];
}

const RECORDED = {
  param: { type: 'string', short: 'p', multiple: true },
  root: { type: 'string' },
  'ignore-images': { type: 'boolean' },
  parallelism: { type: 'string' },
  'stop-at-approval': { type: 'boolean' },
  profile: { type: 'string' },
  service: { type: 'string' },
  account: { type: 'string' },
  cluster: { type: 'string' },
  cpu: { type: 'string' },
} as const;

/** Reads back what `recordCommand` has recorded. */
export function readRecordedCommand(words: readonly string[]): { file: string; options: RecordedOptions } {
  const { values, positionals } = parseArgs({ args: [...words], options: RECORDED, allowPositionals: true });
  const { param = [], root, parallelism, profile, service, account, cluster, cpu } = values;
  const options: RecordedOptions = {
    param: Object.fromEntries(param.map((text) => splitParam(text))),
    ...(root !== undefined && { root }),
    ...(values['ignore-images'] === true && { ignoreImages: true }),
    ...(parallelism !== undefined && { parallelism: Number(parallelism) }),
    ...(values['stop-at-approval'] === true && { stopAtApproval: true }),
    ...(profile !== undefined && { profile }),
    ...(service !== undefined && { service }),
    ...(account !== undefined && { account }),
    ...(cluster !== undefined && { cluster }),
    ...(cpu !== undefined && { cpu: Number(cpu) }),
  };
  return { file: positionals[1] ?? '', options };
}

function splitParam(text: string): [name: string, value: string] {
  const equals = text.indexOf('=');
  return [text.slice(0, equals), text.slice(equals + 1)];
}
