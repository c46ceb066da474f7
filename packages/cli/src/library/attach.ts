import { ok, type Result, type SluiceError } from '@sluice/core';
import type { RunnerEvent } from '@sluice/run';
import { attachRun } from '@sluice/runner';
import { selectHome } from '../home/home.ts';
import { isExecutedSoon } from '../hosting/is-executed-soon.ts';
import { attempt, type SluiceErrorCode, unwrap } from './error-code.ts';
import { createEventQueue, reportTo } from './event-queue.ts';
import { findRun } from './find-run.ts';
import { followServerRun } from './follow-server-run.ts';
import { createProgramContext } from './program-context.ts';
import { OPTIONS, readArgument, TEXT } from './read-options.ts';
import type { ResumeOptions } from './run-options.ts';
import { createRunResult, type DeclaredResults, type RunResult } from './run-result.ts';
import { buildGiven } from './start-given.ts';

/** How to attach to a run. `R` are the values of the results that its pipeline declares. */
export interface AttachOptions<R = DeclaredResults>
  extends Pick<ResumeOptions<R>, 'home' | 'profile' | 'service' | 'onEvent' | 'pipeline'> {
  /** Stops following the run, which continues. */
  readonly signal?: AbortSignal;
}

/** A run that this process follows without executing it. `R` are the values of the results that its pipeline declares. */
export interface AttachedRun<R = DeclaredResults> {
  readonly runId: string;
  /** The run's directory in the home, absolute. */
  readonly directory: string;
  /**
   * The present status of every cell, then everything that happens, as for `RunHandle.events`. Transfers and states of
   * containers are not reported. Ends when `finished` does.
   */
  readonly events: AsyncIterable<RunnerEvent>;
  /**
   * Resolves at the end of the run, when no process executes it any more, and after `close`; `status` says which. Rejects
   * with `SluiceError` if the run cannot be followed any more, for example because its server has lost it.
   */
  readonly finished: Promise<RunResult<R>>;
  /** Stops following the run, which continues. No effect if repeated. */
  close(): void;
}

/**
 * Follows a run of the home or of the service's server that another process executes: a terminal, the background or a server.
 * It only reads: neither the `signal` nor the end of this program changes the run. At the end of a run on a server, its outputs with `publish` are
 * copied to this machine, as by `sluice attach`. Throws `SluiceError`, for example `RUN_NOT_FOUND`.
 *
 * @example
 * ```ts
 * import { attach } from 'sluice';
 *
 * const attached = await attach('3o75', { signal: AbortSignal.timeout(60_000) });
 * for await (const event of attached.events) console.log(event.type);
 * console.log((await attached.finished).status);
 * ```
 */
export async function attach<R = DeclaredResults>(
  runId: string,
  options: AttachOptions<R> = {},
): Promise<AttachedRun<R>> {
  return unwrap(await safeAttach(runId, options));
}

/**
 * Like `attach`, but returns the error.
 *
 * @example
 * ```ts
 * import { safeAttach } from 'sluice';
 *
 * const attached = await safeAttach('3o75');
 * if (attached.ok) console.log((await attached.value.finished).status);
 * else console.error(attached.error.code, attached.error.message);
 * ```
 */
export function safeAttach<R = DeclaredResults>(
  runId: string,
  options: AttachOptions<R> = {},
): Promise<Result<AttachedRun<R>, SluiceError<SluiceErrorCode>>> {
  return attempt(async () => ok(await attachTo(runId, options)));
}

async function attachTo<R>(runId: string, options: AttachOptions<R>): Promise<AttachedRun<R>> {
  readArgument('attach: run', TEXT, runId);
  const read = readArgument('attach', OPTIONS.attach, options);
  const { pipeline, signal, onEvent } = read;
  const built = pipeline && unwrap(buildGiven('attach: pipeline', pipeline));
  const { home, runId: id, place } = unwrap(await attempt(() => findRun(runId, read)));
  const queue = createEventQueue();
  const reporter = reportTo(queue, onEvent);
  const follow = (isAwaited: () => Promise<boolean>) =>
    attempt(() => attachRun({ home, runId: id, reporter, isAwaited }));
  const handed = { runId: id, context: createProgramContext(), options: selectHome(read) };
  const followed =
    place === undefined
      ? unwrap(await follow(() => isExecutedSoon(home, handed)))
      : await followServerRun({ ...read, home, runId: id, place, follow: () => follow(async () => true) });
  const close = () => followed.stop();
  if (signal?.aborted) close();
  signal?.addEventListener('abort', close);
  const finished = followed.finished
    .finally(() => {
      signal?.removeEventListener('abort', close);
      queue.end();
    })
    .then((ended) => createRunResult<R>(ended, built?.pipeline.results));
  // A program that only reads the events need not await it.
  finished.catch(() => {});
  return { runId: id, directory: followed.directory, events: queue.events, finished, close };
}
