import { fail, ok, type Result } from '@sluice/core';
import { describeServer, readRun, readServerMark, runDirectory } from '@sluice/home';
import { chooseService } from '../connect/choose-service.ts';
import { tryWithService } from '../connect/with-service.ts';
import type { CommandRefusal } from '../context/command-refusal.ts';
import { EXIT_CODE } from '../context/exit-code.ts';
import type { HandedRun, RunToHand } from '../runs/handed-run.ts';
import { handToServer } from './hand-to-server.ts';
import { hasLostRun, lostRunRefusal } from './lost-run.ts';
import { serverOptions } from './server-options.ts';

/**
 * Hands a run over to the service of the options, or to the server to which an earlier command was handing it over.
 * Undefined: that service executes no runs, so the home's host does.
 */
export async function detachToServer({
  home,
  runId,
  context,
  options,
}: RunToHand): Promise<Result<HandedRun, CommandRefusal> | undefined> {
  const mark = await readServerMark(runDirectory(home, runId));
  if (mark?.state === 'taken-back') {
    const message = `could not detach run ${runId}: ${describeServer(mark)}`;
    return fail({ exitCode: EXIT_CODE.suspended, message });
  }
  const isBegun = mark !== undefined && mark.state !== 'released';
  const reached = isBegun ? serverOptions(options, mark) : options;
  const chosen = chooseService(reached, context);
  if (!chosen.ok) return chosen;
  if (chosen.value.url === undefined) return undefined;
  type Handed = Result<HandedRun | undefined, CommandRefusal>;
  const handed = await tryWithService({ context, options: reached }, async ({ runServer, scope }): Promise<Handed> => {
    const isHosting = isBegun || (await runServer?.isAvailable()) === true;
    if (!isHosting || runServer === undefined) return ok(undefined);
    if (mark?.state === 'hosted' && (await hasLostRun(runServer, runId))) {
      const run = { url: runServer.url, runId, isOurs: mark.isOurs };
      return fail(lostRunRefusal(`could not detach run ${runId}`, run, options));
    }
    const report = await readRun(home, runId);
    if (report.ok && (report.value.clusterId !== scope.clusterID || report.value.accountId !== scope.accountID)) {
      const message = `could not hand run ${runId} over to ${runServer.url}: it uses the account ${report.value.clusterId}/${report.value.accountId}, and this is ${scope.clusterID}/${scope.accountID}`;
      return fail({ exitCode: EXIT_CODE.refused, message });
    }
    return handToServer({ home, runId, server: runServer }, { context, options });
  });
  if (!handed.ok) return handed;
  return handed.value && ok(handed.value);
}
