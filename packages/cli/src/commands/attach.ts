import { askHost, isHosted } from '@sluice/host';
import {
  type AttachedRun,
  attachRun,
  openJournalMirror,
  type RunReport,
  type RunSummary,
  runDirectory,
} from '@sluice/runner';
import { withService } from '../connect/with-service.ts';
import type { CommandContext, GlobalOptions } from '../context/command-context.ts';
import { EXIT_CODE } from '../context/exit-code.ts';
import { fromRunRefusal, refuse } from '../context/refuse.ts';
import { suggestCommand } from '../context/suggest-command.ts';
import { findHome } from '../home/home.ts';
import { handToHost } from '../hosting/hand-to-host.ts';
import { createProgress } from '../progress/create-progress.ts';
import type { Progress } from '../progress/plain-progress.ts';
import { followServer } from '../remote/follow-server.ts';
import { refuseLostRun } from '../remote/lost-run.ts';
import { publishHere } from '../remote/publish-here.ts';
import { selectShownRun } from '../remote/select-shown-run.ts';
import { showEnd } from '../runs/show-end.ts';
import type { JunitOptions } from '../runs/write-junit.ts';

/** `sluice attach`: follows a run by its journal, whichever process executes it. Signals only end the command. */
export async function attach(
  prefix: string | undefined,
  context: CommandContext,
  options: JunitOptions,
): Promise<number> {
  const home = findHome(context, options);
  const found = await selectShownRun(home, { prefix, context, options });
  if (!found.ok) return refuse(found.error, { context, options });
  const { run, mark } = found.value;
  const { runId, status } = run;
  if (mark !== undefined) {
    const fault = await findMissingEnd(home, run);
    if (fault !== undefined) return refuse({ exitCode: EXIT_CODE.refused, message: fault }, { context, options });
    return attachToServer(home, { runId, isOurs: mark.isOurs, context, options, service: found.value.options });
  }
  if (status === 'suspended') {
    const fault = await findExecutor(home, { runId, context, options });
    if (fault !== undefined) return refuse({ exitCode: EXIT_CODE.suspended, message: fault }, { context, options });
  }
  const progress = createProgress(context.terminal, options);
  const attached = await attachRun({ home, runId, reporter: progress, isAwaited: () => isExecutedSoon(home, runId) });
  if (!attached.ok) {
    progress.close();
    return refuse(fromRunRefusal(attached.error, { options, runId }), { context, options });
  }
  return followAttached(attached.value, { context, progress, options });
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
    if (runServer === undefined) return refuse({ exitCode: EXIT_CODE.refused, message }, { context, options });
    const progress = createProgress(context.terminal, options);
    const attached = await attachRun({ home, runId, reporter: progress, isAwaited: async () => true });
    if (!attached.ok) {
      progress.close();
      return refuse(fromRunRefusal(attached.error, { options, runId }), { context, options });
    }
    const stop = new AbortController();
    const onProblem = (problem: string) => progress.print(`warning: ${problem}; trying again`);
    const lost = new AbortController();
    const followed = followServer({ home, runId, server: runServer, signal: stop.signal, onProblem }).then((result) => {
      if (result === 'lost') lost.abort();
      if (result === 'incomplete') attached.value.stop();
    });
    try {
      const publish = isOurs ? (report: RunReport) => publishHere(report, { home, service }) : undefined;
      const given = { context, progress, options, lost: lost.signal, ...(publish && { publish }) };
      const exitCode = await followAttached(attached.value, given);
      if (!lost.signal.aborted) return exitCode;
    } finally {
      stop.abort();
      await followed;
    }
    const run = { url: runServer.url, runId, isOurs };
    return refuseLostRun(`could not follow run ${runId}`, run, { context, options });
  });
}

/** Hands a detached run to a host if there is none. Otherwise returns why no process executes the run. */
async function findExecutor(
  home: string,
  { runId, context, options }: { runId: string; context: CommandContext; options: GlobalOptions },
): Promise<string | undefined> {
  const commands = [suggestCommand(['resume', runId], options), suggestCommand(['detach', runId], options)];
  const advice = `continue it with: ${commands[0]}, or in the background with: ${commands[1]}`;
  if (!isHosted(home, runId)) return `could not attach to run ${runId}: it is suspended; ${advice}`;
  const handed = await handToHost(home, { runId, context });
  return handed.ok ? undefined : `could not attach to run ${runId}: ${handed.error}; ${advice}`;
}

/** Whether a host has the run and will execute it, for example when its concurrency group has capacity. */
async function isExecutedSoon(home: string, runId: string): Promise<boolean> {
  const reply = await askHost(home, { verb: 'status' });
  return reply !== undefined && 'status' in reply && reply.status.runs.some((run) => run.runId === runId);
}

async function followAttached(
  run: AttachedRun,
  given: {
    context: CommandContext;
    progress: Progress;
    options: JunitOptions;
    publish?: (report: RunReport) => Promise<RunReport>;
    /** Aborted when the run cannot be followed any more. */
    lost?: AbortSignal;
  },
): Promise<number> {
  const { context, progress, options, publish = async (report) => report, lost } = given;
  let exitCode: number | undefined;
  const leave = (code: number) => {
    exitCode ??= code;
    run.stop();
  };
  const unsubscribe = [
    context.onSignal('SIGINT', () => leave(EXIT_CODE.interrupted)),
    context.onSignal('SIGTERM', () => leave(EXIT_CODE.suspended)),
  ];
  lost?.addEventListener('abort', () => leave(EXIT_CODE.suspended));
  try {
    const report = await run.finished;
    if (exitCode === undefined) return await showEnd(await publish(report), { context, progress, options });
    if (lost?.aborted !== true)
      progress.print(
        `run ${run.runId} continues; attach again with: ${suggestCommand(['attach', run.runId], options)}`,
      );
    progress.close();
    return exitCode;
  } finally {
    for (const stop of unsubscribe) stop();
  }
}
