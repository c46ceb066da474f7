import { createSystemDisk, hasPlan, placeOf, readCustody, runCustody, runDirectory } from '@sluice/home';
import type { RunError, RunReport } from '@sluice/run';
import type { AttachedRun } from '@sluice/runner';
import type { HomeService } from '../connect/open-service.ts';
import type { RunServer } from '../connect/run-server.ts';
import type { CommandContext, GlobalOptions } from '../context/command-context.ts';
import { EXIT_CODE, type ExitCode } from '../context/exit-code.ts';
import { fromRunError, reject } from '../context/reject.ts';
import { suggestCommand } from '../context/suggest-command.ts';
import type { Progress } from '../render/plain-progress.ts';
import { onOneLine } from '../text/on-one-line.ts';
import { followAttached } from './follow-attached.ts';
import type { FollowOptions } from './follow-options.ts';
import { followServer } from './follow-server.ts';
import { lostRunError } from './lost-run.ts';
import { publishHere } from './publish-here.ts';

interface ServerRunToFollow {
  readonly runId: string;
  readonly context: CommandContext;
  readonly options: FollowOptions;
}

/** Follows the copy of a run, which is kept up to date meanwhile. At its end, its outputs are copied to this machine. */
export async function followOnServer(
  { home, service, runServer }: Pick<HomeService, 'home' | 'service'> & { readonly runServer: RunServer },
  { runId, context, options }: ServerRunToFollow,
): Promise<number> {
  if (!(await hasPlan(createSystemDisk(), runDirectory(home, runId)))) {
    const attach = suggestCommand(['attach', runId], options);
    const message = `run ${runId} continues on ${runServer.url}, which cannot be read now; follow it with: ${attach}`;
    return reject({ exitCode: EXIT_CODE.suspended, message }, { context, options });
  }
  const directories = placeOf(await readCustody(runCustody(home, runId)))?.publish;
  const stop = new AbortController();
  const lost = new AbortController();
  const mirror = { home, runId, server: runServer, signal: stop.signal };
  let followed: Promise<void> | undefined;
  const onAttached = (attached: AttachedRun, progress: Progress) => {
    const onProblem = (problem: string) => progress.print(`warning: ${onOneLine(problem)}; trying again`);
    followed = followServer({ ...mirror, onProblem }).then((result) => {
      if (result === 'lost') lost.abort();
      if (result === 'incomplete') attached.stop();
    });
  };
  try {
    let unpublished: RunError | undefined;
    const publish = async (report: RunReport, progress: Progress) => {
      // Another home has ordered the run.
      if (directories === undefined) return report;
      const onWarning = (warning: string) => progress.print(`warning: ${onOneLine(warning)}`);
      const published = await publishHere(report, { home, service, directories, onWarning });
      if (published.ok) return published.value;
      unpublished = published.error;
      return report;
    };
    const follow = { home, context, options, lost: lost.signal, onAttached, publish };
    const exitCode = await followAttached(runId, follow);
    if (unpublished !== undefined) return rejectUnpublished(unpublished, { runId, exitCode, context, options });
    if (!lost.signal.aborted) return exitCode;
  } finally {
    stop.abort();
    await followed;
  }
  const run = { url: runServer.url, runId };
  return reject(lostRunError(`could not follow run ${runId}`, run, options), { context, options });
}

/** The run counts as failed for a script, as with a single output that could not be copied. */
function rejectUnpublished(
  rejection: RunError,
  given: { runId: string; exitCode: number; context: CommandContext; options: GlobalOptions },
): ExitCode {
  const { runId, context, options } = given;
  const exitCode = given.exitCode === EXIT_CODE.ok ? EXIT_CODE.runFailed : (given.exitCode as ExitCode);
  return reject({ ...fromRunError(rejection, { options, runId }), exitCode }, { context, options });
}
