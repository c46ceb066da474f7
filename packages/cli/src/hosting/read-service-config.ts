import { readFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { fail, ok, type Result } from '@sluice/core';
import { parseServiceConfig, type ServiceConfig } from '@sluice/service';
import { z } from 'zod';
import type { CommandContext } from '../context/command-context.ts';
import type { CommandError } from '../context/command-rejection.ts';
import { EXIT_CODE } from '../context/exit-code.ts';
import { findKeyFault, type RunsConfig, runsSchema } from './runs-config.ts';

/** Pipelines that the service runs by their `schedule`, on behalf of an account. */
const schedulesSchema = z
  .array(
    z.strictObject({
      account: z.string().regex(/^[a-z0-9-]+\/[a-z0-9-]+$/, 'must have the form CLUSTER/ACCOUNT'),
      /** Pipeline files or directories of them, relative to the directory of the configuration. */
      files: z.array(z.string().min(1)).min(1),
      params: z.record(z.string(), z.string()).default({}),
    }),
  )
  .default([]);
/** The sections of a configuration that are the command's own. */
export const SERVICE_SECTIONS = { schedules: schedulesSchema, runs: runsSchema };
/** The validated `schedules` section of a configuration. */
export type HostedSchedules = z.infer<typeof schedulesSchema>;

/** The configuration of a service, and the schedules that the command runs in the same process. */
export interface ServedConfig {
  readonly service: ServiceConfig;
  readonly schedules: HostedSchedules;
  readonly runs: RunsConfig;
  /** Absolute directory of the file. */
  readonly directory: string;
}

/** Reads the configuration of a service. An invalid one is rejected with all its errors, by line and column. */
export function readServiceConfig(
  file: string,
  context: Pick<CommandContext, 'cwd'>,
): Result<ServedConfig, CommandError> {
  const path = resolve(context.cwd, file);
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    return fail({ exitCode: EXIT_CODE.rejected, message: `could not read ${path}: ${(error as Error).message}` });
  }
  return parseServiceConfigText(text, { file, directory: dirname(path) });
}

/**
 * Like `readServiceConfig`, for the text of `file`, which need not be written yet. Relative paths are resolved against
 * `directory`.
 */
export function parseServiceConfigText(
  text: string,
  { file, directory }: { file: string; directory: string },
): Result<ServedConfig, CommandError> {
  const parsed = parseServiceConfig(text, directory, SERVICE_SECTIONS);
  const [message, ...lines] = parsed.ok
    ? findFaults(parsed.value, { ...parsed.sections, directory }).map((fault) => `${file}: ${fault}`)
    : parsed.problems.map(
        ({ line, column, path: field, message }) =>
          `${file}:${line}:${column}: ${field === '' ? '' : `${field}: `}${message}`,
      );
  if (!parsed.ok || message !== undefined) return fail({ exitCode: EXIT_CODE.rejected, message: message ?? '', lines });
  return ok({ service: parsed.value, schedules: parsed.sections.schedules, runs: parsed.sections.runs, directory });
}

function findFaults(service: ServiceConfig, { schedules, runs, directory }: Omit<ServedConfig, 'service'>): string[] {
  const unknown = findUnknownAccounts(
    service,
    schedules.map(({ account }, index) => ({ account, field: `schedules.${index}.account` })),
  );
  const limited = Object.keys(runs.accounts).map((account) => ({ account, field: `runs.accounts.${account}` }));
  const fault = findKeyFault(runs, { root: service.root, directory });
  return [...unknown, ...findUnknownAccounts(service, limited), ...(fault === undefined ? [] : [fault])];
}

function findUnknownAccounts(
  { clusters }: ServiceConfig,
  named: readonly { readonly account: string; readonly field: string }[],
): string[] {
  const known = clusters.flatMap(({ id, accounts }) => accounts.map((account) => `${id}/${account}`));
  return named.flatMap(({ account, field }) =>
    known.includes(account)
      ? []
      : [`${field}: there is no account ${account}; the configuration defines ${known.join(', ')}`],
  );
}
