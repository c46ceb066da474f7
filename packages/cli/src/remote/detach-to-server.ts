import { describeServer, readRun, readServerMark, runDirectory } from '@sluice/home';
import { chooseService } from '../connect/choose-service.ts';
import { withService } from '../connect/with-service.ts';
import type { CommandContext, GlobalOptions } from '../context/command-context.ts';
import { EXIT_CODE } from '../context/exit-code.ts';
import { refuse } from '../context/refuse.ts';
import { handToServer } from './hand-to-server.ts';
import { hasLostRun, refuseLostRun } from './lost-run.ts';
import { serverOptions } from './server-options.ts';

/**
 * Hands a run over to the service of the options, or to the server to which an earlier command was handing it over.
 * Undefined: that service executes no runs, so the home's host does.
 */
export async function detachToServer(
  home: string,
  {
    runId,
    context,
    options,
  }: { readonly runId: string; readonly context: CommandContext; readonly options: GlobalOptions },
): Promise<number | undefined> {
  const mark = await readServerMark(runDirectory(home, runId));
  if (mark?.state === 'taken-back') {
    const message = `could not detach run ${runId}: ${describeServer(mark)}`;
    return refuse({ exitCode: EXIT_CODE.suspended, message }, { context, options });
  }
  const isBegun = mark !== undefined && mark.state !== 'released';
  const reached = isBegun ? serverOptions(options, mark) : options;
  const chosen = chooseService(reached, context);
  if (!chosen.ok) return refuse(chosen.error, { context, options });
  if (chosen.value.url === undefined) return undefined;
  let isHosting = true;
  const exitCode = await withService({ context, options: reached }, async ({ runServer, scope }) => {
    isHosting = isBegun || (await runServer?.isAvailable()) === true;
    if (!isHosting || runServer === undefined) return EXIT_CODE.ok;
    if (mark?.state === 'hosted' && (await hasLostRun(runServer, runId))) {
      const run = { url: runServer.url, runId, isOurs: mark.isOurs };
      return refuseLostRun(`could not detach run ${runId}`, run, { context, options });
    }
    const report = await readRun(home, runId);
    if (report.ok && (report.value.clusterId !== scope.clusterID || report.value.accountId !== scope.accountID)) {
      const message = `could not hand run ${runId} over to ${runServer.url}: it uses the account ${report.value.clusterId}/${report.value.accountId}, and this is ${scope.clusterID}/${scope.accountID}`;
      return refuse({ exitCode: EXIT_CODE.refused, message }, { context, options });
    }
    return handToServer({ home, runId, server: runServer }, { context, options });
  });
  return isHosting ? exitCode : undefined;
}
