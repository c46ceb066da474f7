import { readFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { fail, ok, type Result } from '@sluice/core';
import { parseServiceConfig, type ServiceConfig } from '@sluice/service';
import type { CommandContext } from './command-context.ts';
import { EXIT_CODE } from './exit-code.ts';
import type { Refusal } from './refusal.ts';

/** Reads the configuration of a service; a wrong one is refused with all that is wrong, by line and column. */
export function readServiceConfig(file: string, context: Pick<CommandContext, 'cwd'>): Result<ServiceConfig, Refusal> {
  const path = resolve(context.cwd, file);
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    return fail({ exitCode: EXIT_CODE.refused, message: `Could not read ${path}: ${(error as Error).message}` });
  }
  return parseServiceConfigText(text, { file, directory: dirname(path) });
}

/** The same for a text that is, or may become, that of `file`; relative paths count from `directory`. */
export function parseServiceConfigText(
  text: string,
  { file, directory }: { file: string; directory: string },
): Result<ServiceConfig, Refusal> {
  const parsed = parseServiceConfig(text, directory);
  if (parsed.ok) return ok(parsed.value);
  const lines = parsed.problems.map(
    ({ line, column, path: field, message }) =>
      `${file}:${line}:${column}: ${field === '' ? '' : `${field}: `}${message}`,
  );
  return fail({ exitCode: EXIT_CODE.refused, message: lines.join('\n') });
}
