import { readFileSync } from 'node:fs';
import { dirname, relative, resolve } from 'node:path';
import {
  createPlan,
  type Diagnostic,
  fail,
  ok,
  type Pipeline,
  type Plan,
  parsePipeline,
  type Result,
} from '@sluice/core';
import type { CommandContext } from '../command-context.ts';

/** A pipeline file that was read, checked and planned. */
export interface LoadedPlan {
  readonly plan: Plan;
  /** Directory of the file, absolute: relative paths in it start there. */
  readonly baseDir: string;
  readonly warnings: readonly Diagnostic[];
  readonly texts: SourceTexts;
}

/** The texts of the files that diagnostics point into, by the name that they use. */
export type SourceTexts = ReadonlyMap<string, string>;

/** Why a file has no plan: everything that is wrong with it, in file order. */
export interface RefusedFile {
  readonly diagnostics: readonly Diagnostic[];
  readonly texts: SourceTexts;
}

/** Reads, checks and plans a pipeline file and the files that it includes. Starts nothing. */
export async function loadPlan(
  file: string,
  options: { context: CommandContext; params?: Readonly<Record<string, string>> | undefined },
): Promise<Result<LoadedPlan, RefusedFile>> {
  const path = resolve(options.context.cwd, file);
  const texts = new Map<string, string>();
  const text = readText(path);
  const name = relative(options.context.cwd, path) || path;
  if (!text.ok) {
    return fail({ diagnostics: [{ code: 'unreadable-file', severity: 'error', message: text.error }], texts });
  }
  texts.set(name, text.value);
  const read = (other: string): Result<string, string> => {
    const result = readText(resolve(options.context.cwd, other));
    if (result.ok) texts.set(other, result.value);
    return result;
  };
  const parsed = parsePipeline({ text: text.value, file: name, read });
  if (!parsed.ok) return fail({ diagnostics: parsed.error, texts });
  const fault = await scheduleFault(parsed.value.pipeline);
  if (fault !== undefined) return fail({ diagnostics: [...parsed.value.warnings, fault], texts });
  const planned = createPlan(parsed.value.pipeline, { params: options.params ?? {} });
  if (!planned.ok) return fail({ diagnostics: planned.error, texts });
  return ok({ plan: planned.value, baseDir: dirname(path), warnings: parsed.value.warnings, texts });
}

/** The file's checks know how an expression looks; whether it ever comes is asked of what will go by it. */
async function scheduleFault({ schedule }: Pipeline): Promise<Diagnostic | undefined> {
  if (schedule === undefined) return undefined;
  const { describeScheduleFault } = await import('@sluice/runner');
  const message = describeScheduleFault(schedule, Date.now());
  return message === undefined ? undefined : { code: 'bad-cron', severity: 'error', message };
}

function readText(path: string): Result<string, string> {
  try {
    return ok(readFileSync(path, 'utf8'));
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code;
    const reason = code === 'ENOENT' ? 'there is no such file' : code === 'EISDIR' ? 'it is a directory' : String(code);
    return fail(`Could not read ${path}: ${reason}`);
  }
}
