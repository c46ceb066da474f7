import { isServiceError } from '@sluice/client';
import { fail, ok, type Result } from '@sluice/core';
import { readServerMark, runDirectory } from '@sluice/runner';
import { openService } from '../connect/open-service.ts';
import type { CommandContext, GlobalOptions } from '../context/command-context.ts';
import type { CommandRefusal } from '../context/command-refusal.ts';
import { EXIT_CODE } from '../context/exit-code.ts';
import { suggestCommand } from '../context/suggest-command.ts';
import { serverOptions } from './server-options.ts';
import { takeBackRun } from './take-back-run.ts';

/**
 * Takes a run back from its server, if one executes it, so that this home can resume it. Returns the options with which
 * the run's service is reached.
 */
export async function takeFromServer<O extends GlobalOptions>(
  home: string,
  { runId, context, options }: { readonly runId: string; readonly context: CommandContext; readonly options: O },
): Promise<Result<O, CommandRefusal>> {
  const mark = await readServerMark(runDirectory(home, runId));
  if (mark === undefined) return ok(options);
  const reached = serverOptions(options, mark);
  if (mark.state === 'released') return ok(options.service === undefined ? reached : options);
  const opened = await openService(reached, context);
  if (!opened.ok) return opened;
  const { runServer, close } = opened.value;
  const refuse = (reason: string) => {
    const message = `could not take run ${runId} back from ${mark.service}: ${reason}`;
    return fail({ exitCode: EXIT_CODE.suspended, message });
  };
  try {
    if (runServer === undefined) return refuse('the service executes no runs');
    const taken = await takeBackRun({ home, runId, server: runServer });
    return taken.ok ? ok(reached) : refuse(taken.error);
  } catch (error) {
    if (!isServiceError(error)) throw error;
    return refuse(`${error.message}; repeat with: ${suggestCommand(['resume', runId], options)}`);
  } finally {
    await close();
  }
}
