import { existsSync } from 'node:fs';
import { fail, ok, type Result } from '@sluice/core';
import { isRunId, listRuns, runDirectory } from '@sluice/home';
import type { RunSummary } from '@sluice/run';
import type { GlobalOptions } from '../context/command-context.ts';
import type { CommandError } from '../context/command-rejection.ts';
import { EXIT_CODE } from '../context/exit-code.ts';
import { adviseAdoption } from '../context/reject.ts';
import { suggestCommand } from '../context/suggest-command.ts';

/**
 * Selects the run whose ID starts with `prefix`; without a prefix, the newest that `accept` allows. `which` describes
 * that condition in messages.
 */
export async function selectRun(
  home: string,
  {
    prefix,
    accept = () => true,
    which = '',
    options,
  }: {
    prefix: string | undefined;
    accept?: (run: RunSummary) => boolean;
    which?: string;
    /** Global options that suggested commands repeat. */
    options: GlobalOptions;
  },
): Promise<Result<RunSummary, CommandError>> {
  const runs = await listRuns(home);
  const list = suggestCommand(['runs'], options);
  const reject = (message: string) => fail({ exitCode: EXIT_CODE.rejected, message });
  if (prefix === undefined) {
    const newest = runs.find(accept);
    if (newest !== undefined) return ok(newest);
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
  );
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
