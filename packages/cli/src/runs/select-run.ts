import { existsSync } from 'node:fs';
import { dirname } from 'node:path';
import { fail, ok, type Result } from '@sluice/core';
import { isRunId, listRuns, readRunOrder, runDirectory } from '@sluice/home';
import type { RunSummary } from '@sluice/run';
import type { GlobalOptions } from '../context/command-context.ts';
import type { CommandError } from '../context/command-rejection.ts';
import { EXIT_CODE } from '../context/exit-code.ts';
import { adviseAdoption } from '../context/reject.ts';
import { suggestCommand } from '../context/suggest-command.ts';

/** How a run is selected. */
export interface RunSelection {
  readonly prefix: string | undefined;
  readonly accept?: (run: RunSummary) => boolean | Promise<boolean>;
  /** Describes what `accept` requires, in messages. */
  readonly which?: string;
  /** For a command that changes the run: what it may mean without a prefix. Default: the newest run. */
  readonly changes?: ChangedRun;
  /** Global options that suggested commands repeat. */
  readonly options: GlobalOptions;
}

/** The run that a command without a prefix changes. */
export interface ChangedRun {
  /** The command up to the run, as suggestions repeat it. */
  readonly words: readonly string[];
  /** A run whose pipeline file is in this directory is preferred. */
  readonly cwd: string;
  /** `run`: there must be only one; `pipeline`: the newest, if all are of one pipeline. */
  readonly oneOf: 'run' | 'pipeline';
}

/**
 * Selects the run whose ID starts with `prefix`; without a prefix, the newest that `accept` allows, or the one that `changes`
 * describes.
 */
export async function selectRun(
  home: string,
  { prefix, accept = () => true, which = '', changes, options }: RunSelection,
): Promise<Result<RunSummary, CommandError>> {
  const runs = await listRuns(home);
  const list = suggestCommand(['runs'], options);
  const reject = (message: string, code = 'RUN_NOT_FOUND') => fail({ exitCode: EXIT_CODE.rejected, code, message });
  if (prefix === undefined) {
    const fitting: RunSummary[] = [];
    for (const run of runs) {
      if (!(await accept(run))) continue;
      if (changes === undefined) return ok(run);
      if (changes.oneOf === 'run' || fitting.every(({ pipeline }) => pipeline !== run.pipeline)) fitting.push(run);
    }
    if (changes !== undefined && fitting.length > 0) return selectChanged(home, { fitting, changes, options });
    if (runs.length > 0) return reject(`could not find a run${which} in ${home}; list its runs with: ${list}`);
    return reject(
      `could not find a run in ${home}: it has none; start one with \`sluice run\`, or name another home with --home`,
    );
  }
  const fitting = runs.filter(({ runId }) => runId.startsWith(prefix));
  const exact = fitting.find(({ runId }) => runId === prefix) ?? (fitting.length === 1 ? fitting[0] : undefined);
  if (exact !== undefined) return ok(exact);
  if (fitting.length === 0) return reject(`could not find run ${prefix} in ${home}; list its runs with: ${list}`);
  return reject(
    `could not choose a run: the IDs of several runs start with ${prefix}: ${fitting.map(({ runId }) => runId).join(', ')}`,
    'RUN_AMBIGUOUS',
  );
}

/** The run with this prefix, or the only one of the home that has not ended; for the command `verb`, which changes it. */
export function selectUnended(
  home: string,
  {
    verb,
    prefix,
    cwd,
    options,
  }: Pick<RunSelection, 'prefix' | 'options'> & { readonly verb: string; readonly cwd: string },
): Promise<Result<RunSummary, CommandError>> {
  return selectRun(home, {
    prefix,
    accept: ({ endedAt }) => endedAt === undefined,
    which: ' that has not ended',
    changes: { words: [verb], cwd, oneOf: 'run' },
    options,
  });
}

const MAX_LISTED = 10;

async function selectChanged(
  home: string,
  { fitting, changes, options }: { fitting: readonly RunSummary[]; changes: ChangedRun; options: GlobalOptions },
): Promise<Result<RunSummary, CommandError>> {
  if (fitting.length === 1) return ok(fitting[0]!);
  const here: RunSummary[] = [];
  for (const run of fitting) {
    const order = await readRunOrder(home, run.runId);
    if (order !== undefined && dirname(order.file) === changes.cwd) here.push(run);
  }
  if (here.length === 1) return ok(here[0]!);
  const meant = here.length > 1 ? here : fitting;
  const lines = meant
    .slice(0, MAX_LISTED)
    .map(
      ({ runId, pipeline, status }) =>
        `  ${suggestCommand([...changes.words, runId], options)}  # ${pipeline}, ${status}`,
    );
  if (meant.length > MAX_LISTED)
    lines.push(`  and ${meant.length - MAX_LISTED} more: ${suggestCommand(['runs'], options)}`);
  const message = `could not choose a run: ${meant.length} could be meant; name one of them:`;
  return fail({ exitCode: EXIT_CODE.rejected, code: 'RUN_AMBIGUOUS', message, lines });
}

/**
 * Selects a run that `listRuns` omits, because it has not begun or is unreadable, by its full ID. `otherwise` is the
 * rejection for an unknown run.
 */
export function selectUnlistedRun(
  home: string,
  { prefix, options, otherwise }: { prefix: string | undefined; options: GlobalOptions; otherwise: CommandError },
): Result<string, CommandError> {
  if (prefix === undefined || !isRunId(prefix)) return fail(otherwise);
  if (existsSync(runDirectory(home, prefix))) return ok(prefix);
  const advice = `if its records are lost, ${adviseAdoption(prefix, options)}`;
  return fail({ ...otherwise, message: `${otherwise.message}; ${advice}` });
}
