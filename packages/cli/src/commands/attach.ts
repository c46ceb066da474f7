import { isHosted, openJournalMirror, runDirectory } from '@sluice/home';
import { askHost } from '@sluice/host';
import type { RunError, RunReport, RunSummary } from '@sluice/run';
import { type AttachedRun, attachRun } from '@sluice/runner';
import { withService } from '../connect/with-service.ts';
import type { CommandContext, GlobalOptions } from '../context/command-context.ts';
import { EXIT_CODE, type ExitCode } from '../context/exit-code.ts';
import { fromRunError, reject } from '../context/reject.ts';
import { suggestCommand } from '../context/suggest-command.ts';
import { findHome } from '../home/home.ts';
import { handToHost } from '../hosting/hand-to-host.ts';
import { createHostWaitReporter } from '../hosting/report-host-wait.ts';
import { createProgress } from '../render/create-progress.ts';
import type { Progress } from '../render/plain-progress.ts';
import { followServer } from '../runs/follow-server.ts';
import { lostRunError } from '../runs/lost-run.ts';
import { publishHere } from '../runs/publish-here.ts';
import { selectShownRun } from '../runs/select-shown-run.ts';
import { showEnd } from '../runs/show-end.ts';
import type { JunitOptions } from '../runs/write-junit.ts';
import { onOneLine } from '../text/on-one-line.ts';

/** `sluice attach`: follows a run by its journal, whichever process executes it. Signals only end the command. */
export async function attach(
  prefix: string | undefined,
  context: CommandContext,
  options: JunitOptions,
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
    return attachToServer(home, { runId, isOurs: place.isOurs, context, options, service: found.value.options });
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

/** Follows the copy of a run, which is kept up to date meanwhile. At its end, its outputs are copied to this machine. */
function attachToServer(
  home: string,
  given: {
    readonly runId: string;
    readonly isOurs: boolean;
    readonly context: CommandContext;
    readonly options: JunitOptions;
    /** The options with which the server is reached. */
    readonly service: GlobalOptions;
  },
): Promise<number> {
  const { runId, isOurs, context, options } = given;
  return withService({ context, options: given.service }, async ({ service, runServer }) => {
    const message = `could not attach to run ${runId}: the service executes no runs`;
    if (runServer === undefined) return reject({ exitCode: EXIT_CODE.rejected, message }, { context, options });
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
      const publish = async (report: RunReport) => {
        const published = await publishHere(report, { home, service });
        if (published.ok) return published.value;
        unpublished = published.error;
        return report;
      };
      const given = { home, context, options, lost: lost.signal, onAttached, ...(isOurs && { publish }) };
      const exitCode = await followAttached(runId, given);
      if (unpublished !== undefined) return rejectUnpublished(unpublished, { runId, exitCode, context, options });
      if (!lost.signal.aborted) return exitCode;
    } finally {
      stop.abort();
      await followed;
    }
    const run = { url: runServer.url, runId };
    return reject(lostRunError(`could not follow run ${runId}`, run, options), { context, options });
  });
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

/** Hands a detached run to a host if there is none. Otherwise returns why no process executes the run. */
async function findExecutor(
  home: string,
  { runId, context, options }: { runId: string; context: CommandContext; options: GlobalOptions },
): Promise<string | undefined> {
  const commands = [suggestCommand(['resume', runId], options), suggestCommand(['detach', runId], options)];
  const advice = `continue it with: ${commands[0]}, or in the background with: ${commands[1]}`;
  if (!isHosted(home, runId)) return `could not attach to run ${runId}: it is suspended; ${advice}`;
  const handed = await handToHost(home, { runId, context, options });
  return handed.ok ? undefined : `could not attach to run ${runId}: ${handed.error}; ${advice}`;
}

/**
 * Whether a host has the run and will execute it, for example when its concurrency group has capacity. While one host leaves
 * its runs, the next one, which is started if necessary, is given the run.
 */
async function isExecutedSoon(
  home: string,
  given: { readonly runId: string; readonly context: CommandContext; readonly options: GlobalOptions },
): Promise<boolean> {
  const onWait = createHostWaitReporter(given.context.terminal, home);
  const reply = await askHost(home, { verb: 'status' }, { onWait });
  if (reply === undefined && isHosted(home, given.runId)) return (await handToHost(home, given)).ok;
  return reply !== undefined && 'status' in reply && reply.status.runs.some((run) => run.runId === given.runId);
}

/**
 * Follows a run until its end or a signal. Signals are awaited before the first event is reported, and have their usual
 * effect again while the outputs are copied.
 */
async function followAttached(
  runId: string,
  given: {
    home: string;
    context: CommandContext;
    options: JunitOptions;
    isAwaited?: () => Promise<boolean>;
    onAttached?: (run: AttachedRun, progress: Progress) => void;
    publish?: (report: RunReport) => Promise<RunReport>;
    /** Aborted when the run can no longer be followed. */
    lost?: AbortSignal;
  },
): Promise<number> {
  const { home, context, options, isAwaited = async () => true, publish = async (report) => report, lost } = given;
  const left = new AbortController();
  const leave = (code: number) => left.abort(code);
  const unsubscribe = [
    context.onSignal('SIGINT', () => leave(EXIT_CODE.interrupted)),
    context.onSignal('SIGTERM', () => leave(EXIT_CODE.suspended)),
  ];
  const progress = createProgress(context.terminal, options);
  let report: RunReport;
  try {
    const attached = await attachRun({ home, runId, reporter: progress, isAwaited });
    if (!attached.ok) {
      progress.close();
      return reject(fromRunError(attached.error, { options, runId }), { context, options });
    }
    const run = attached.value;
    lost?.addEventListener('abort', () => leave(EXIT_CODE.suspended));
    left.signal.addEventListener('abort', () => run.stop());
    if (left.signal.aborted) run.stop();
    else given.onAttached?.(run, progress);
    report = await run.finished;
  } finally {
    for (const stop of unsubscribe) stop();
  }
  if (!left.signal.aborted) return showEnd(await publish(report), { context, progress, options });
  if (lost?.aborted !== true)
    progress.print(`run ${runId} continues; attach again with: ${suggestCommand(['attach', runId], options)}`);
  progress.close();
  return left.signal.reason as number;
}
