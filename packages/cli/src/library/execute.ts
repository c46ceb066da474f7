import { type CheckedPipeline, ok, type Result, type SluiceError } from '@sluice/core';
import { type SluiceErrorCode, unwrap } from './error-code.ts';
import { createEventQueue } from './event-queue.ts';
import type { Runnable, RunOptions } from './run-options.ts';
import type { DeclaredResults, RunResult } from './run-result.ts';
import { startGiven } from './start-given.ts';

/**
 * Runs a pipeline to its end: `run` for programs that need no handle. A run that fails, is canceled by the `signal` or is
 * suspended by another process is no error: see `status`. Throws `SluiceError` if the run cannot start; then nothing was
 * started. Events are only passed to `onEvent`.
 *
 * @example
 * ```ts
 * import { execute, pipeline } from 'sluice';
 *
 * const p = pipeline('hello');
 * p.step('hello', { command: ['echo', 'hello'] });
 * const { status, report } = await execute(p);
 * if (status !== 'succeeded') throw new Error(report.message ?? status);
 * ```
 */
export async function execute<P, R = DeclaredResults>(
  given: Runnable<P, R> | CheckedPipeline,
  options: RunOptions<P> = {},
): Promise<RunResult<R>> {
  return unwrap(await safeExecute(given, options));
}

/**
 * Like `execute`, but returns the error if the run cannot start.
 *
 * @example
 * ```ts
 * import { pipeline, safeExecute } from 'sluice';
 *
 * const p = pipeline('hello');
 * p.step('hello', { command: ['echo', 'hello'] });
 * const executed = await safeExecute(p);
 * if (executed.ok) console.log(executed.value.status);
 * else console.error(executed.error.code, executed.error.message);
 * ```
 */
export async function safeExecute<P, R = DeclaredResults>(
  given: Runnable<P, R> | CheckedPipeline,
  options: RunOptions<P> = {},
): Promise<Result<RunResult<R>, SluiceError<SluiceErrorCode>>> {
  // Without a reader, it keeps nothing.
  const queue = createEventQueue(0);
  const started = await startGiven<P, R>('execute', given, { options, queue });
  return started.ok ? ok(await started.value.finished) : started;
}
