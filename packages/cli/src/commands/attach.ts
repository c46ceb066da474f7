import { isHosted, openJournalMirror, runDirectory } from '@sluice/home';
import type { RunSummary } from '@sluice/run';
import { withService } from '../connect/with-service.ts';
import type { CommandContext, GlobalOptions } from '../context/command-context.ts';
import { EXIT_CODE } from '../context/exit-code.ts';
import { reject } from '../context/reject.ts';
import { suggestContinuing } from '../context/suggest-command.ts';
import { findHome } from '../home/home.ts';
import { handToHost } from '../hosting/hand-to-host.ts';
import { isExecutedSoon } from '../hosting/is-executed-soon.ts';
import { followAttached } from '../runs/follow-attached.ts';
import { followOnServer } from '../runs/follow-on-server.ts';
import type { FollowOptions } from '../runs/follow-options.ts';
import { selectShownRun } from '../runs/select-shown-run.ts';

/** `sluice attach`: follows a run by its journal, whichever process executes it. Signals only end the command. */
export async function attach(
  prefix: string | undefined,
  context: CommandContext,
  options: FollowOptions,
): Promise<number> {
  const home = findHome(context, options);
  const found = await selectShownRun(home, { prefix, context, options });
  if (!found.ok) return reject(found.error, { context, options });
  const { run, place, isOrdering } = found.value;
  const { runId, status } = run;
  if (place !== undefined) {
    if (isOrdering) {
      const message = `could not attach to run ${runId}: ${place.service} has not accepted its order; if it does not, start the run again`;
      return reject({ exitCode: EXIT_CODE.suspended, message }, { context, options });
    }
    const fault = await findMissingEnd(home, run);
    if (fault !== undefined) return reject({ exitCode: EXIT_CODE.rejected, message: fault }, { context, options });
    return withService({ context, options: found.value.options }, async ({ runServer, ...opened }) => {
      const message = `could not attach to run ${runId}: the service executes no runs`;
      if (runServer === undefined) return reject({ exitCode: EXIT_CODE.rejected, message }, { context, options });
      return followOnServer({ ...opened, runServer }, { runId, context, options });
    });
  }
  if (status === 'suspended') {
    const fault = await findExecutor(home, { runId, context, options });
    if (fault !== undefined) return reject({ exitCode: EXIT_CODE.suspended, message: fault }, { context, options });
  }
  const isAwaited = () => isExecutedSoon(home, { runId, context, options });
  return followAttached(runId, { home, context, options, isAwaited });
}

/** Why there is nothing to follow: the server has removed the run before this home had a complete copy. */
async function findMissingEnd(home: string, { runId, status, endedAt }: RunSummary): Promise<string | undefined> {
  if (endedAt === undefined || (await openJournalMirror(runDirectory(home, runId))).hasEnded) return undefined;
  return `could not attach to run ${runId}: it ended (${status}), and its server removed it before this home had copied its end`;
}

/** Hands a detached run to a host if there is none. Otherwise returns why no process executes the run. */
async function findExecutor(
  home: string,
  { runId, context, options }: { runId: string; context: CommandContext; options: GlobalOptions },
): Promise<string | undefined> {
  const advice = `continue it with: ${suggestContinuing(runId, options)}`;
  if (!isHosted(home, runId)) return `could not attach to run ${runId}: it is suspended; ${advice}`;
  const handed = await handToHost(home, { runId, context, options });
  return handed.ok ? undefined : `could not attach to run ${runId}: ${handed.error}; ${advice}`;
}
