import { isServiceError } from '@sluice/client';
import { fail, ok, type Result } from '@sluice/core';
import { readServerMark, runDirectory } from '@sluice/home';
import { findCopyFault } from '@sluice/runner';
import { openService } from '../connect/open-service.ts';
import type { CommandContext, GlobalOptions } from '../context/command-context.ts';
import type { CommandRefusal } from '../context/command-refusal.ts';
import { EXIT_CODE } from '../context/exit-code.ts';
import { printWarning } from '../context/print-warning.ts';
import { suggestCommand } from '../context/suggest-command.ts';
import { describeLostRun } from './lost-run.ts';
import { serverOptions } from './server-options.ts';
import { takeBackRun } from './take-back-run.ts';

const CONTINUED =
  'continuing from the copy of this home: containers that were started since are found by their IDs, and answers to approvals since are lost';

interface TakeOptions<O extends GlobalOptions> {
  readonly runId: string;
  readonly context: CommandContext;
  readonly options: O;
  /** Continue from the copy of this home if the server has lost the run, whatever it may have started. */
  readonly isCopyAllowed: boolean;
}

/**
 * Takes a run back from its server, if one executes it, so that this home can resume it. Returns the options with which
 * the run's service is reached.
 */
export async function takeFromServer<O extends GlobalOptions>(
  home: string,
  { runId, context, options, isCopyAllowed }: TakeOptions<O>,
): Promise<Result<O, CommandRefusal>> {
  const mark = await readServerMark(runDirectory(home, runId));
  if (mark === undefined) return ok(options);
  const reached = serverOptions(options, mark);
  if (mark.state === 'released') return ok(options.service === undefined ? reached : options);
  const opened = await openService(reached, context);
  if (!opened.ok) return opened;
  const { runServer, service, close } = opened.value;
  const refuse = (reason: string) => {
    const message = `could not take run ${runId} back from ${mark.service}: ${reason}`;
    return fail({ exitCode: EXIT_CODE.suspended, message });
  };
  try {
    if (runServer === undefined) return refuse('the service executes no runs');
    let isLost = false;
    const findFault = async () => {
      isLost = true;
      const fault = isCopyAllowed ? undefined : await findCopyFault({ home, runId, service });
      const anyway = suggestCommand(['resume', runId, '--from-copy'], options);
      return fault && `${fault}; if no server executes the run, continue from the copy of this home with: ${anyway}`;
    };
    const taken = await takeBackRun({ home, runId, server: runServer, findCopyFault: findFault });
    if (!taken.ok) return refuse(taken.error);
    if (isLost) printWarning(context.terminal, `${describeLostRun(mark.service)}; ${CONTINUED}`);
    return ok(reached);
  } catch (error) {
    if (!isServiceError(error)) throw error;
    return refuse(`${error.message}; repeat with: ${suggestCommand(['resume', runId], options)}`);
  } finally {
    await close();
  }
}
