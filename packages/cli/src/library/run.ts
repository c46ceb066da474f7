import { type CheckedPipeline, ok, type Result, type SluiceError } from '@sluice/core';
import { resumeRun } from '@sluice/runner';
import { attempt, type SluiceErrorCode, unwrap } from './error-code.ts';
import { createEventQueue } from './event-queue.ts';
import { openRun } from './open-run.ts';
import { OPTIONS, readArgument, TEXT } from './read-options.ts';
import type { RunHandle } from './run-handle.ts';
import type { ResumeOptions, Runnable, RunOptions } from './run-options.ts';
import type { DeclaredResults } from './run-result.ts';
import { buildGiven, startGiven } from './start-given.ts';

/**
 * Starts a run in this process and resolves when it has started. A run that fails is no error: see the status of
 * `finished`. Throws `SluiceError` if the run cannot start; then nothing was started. The command shows and resumes the
 * run like its own.
 *
 * @example
 * ```ts
 * import { pipeline, run } from 'sluice';
 *
 * const p = pipeline('greetings', { params: { name: 'Ada' } });
 * const greet = p.step('greet', {
 *   command: ['sh', '-c', 'echo "hello $0" > /sluice/results/text', p.params.name],
 *   results: { text: 'string' },
 * });
 * const started = await run(p, { params: { name: 'Grace' } });
 * for await (const event of started.events) console.log(event.type);
 * const result = await started.finished;
 * console.log(result.status, result.of(greet).text);
 * ```
 */
export async function run<P, R = DeclaredResults>(
  given: Runnable<P, R> | CheckedPipeline,
  options: RunOptions<P> = {},
): Promise<RunHandle<R>> {
  return unwrap(await safeRun(given, options));
}

/**
 * Like `run`, but returns the error.
 *
 * @example
 * ```ts
 * import { pipeline, safeRun } from 'sluice';
 *
 * const p = pipeline('hello');
 * p.step('hello', { command: ['echo', 'hello'] });
 * const started = await safeRun(p);
 * if (started.ok) await started.value.finished;
 * else console.error(started.error.code, started.error.message);
 * ```
 */
export function safeRun<P, R = DeclaredResults>(
  given: Runnable<P, R> | CheckedPipeline,
  options: RunOptions<P> = {},
): Promise<Result<RunHandle<R>, SluiceError<SluiceErrorCode>>> {
  return startGiven('run', given, { options, queue: createEventQueue() });
}

/**
 * Continues a suspended run of the home in this process. Throws `SluiceError`, for example `RUN_NOT_FOUND`, `RUN_FINISHED`
 * or `RUN_IN_USE`.
 *
 * @example
 * ```ts
 * import { listRuns, resume } from 'sluice';
 *
 * const suspended = (await listRuns()).find(({ status }) => status === 'suspended');
 * if (suspended !== undefined) await (await resume(suspended.runId)).finished;
 * ```
 *
 * @example
 * With the pipeline, the results have types:
 * ```ts
 * import { pipeline, resume } from 'sluice';
 *
 * const p = pipeline('train');
 * const fit = p.step('fit', { script: 'echo 0.9 > /sluice/results/accuracy', results: { accuracy: 'number' } });
 * const declared = p.results({ accuracy: fit.results.accuracy });
 * const { results } = await (await resume('3o75', { pipeline: declared })).finished;
 * const accuracy: number = results.accuracy;
 * console.log(accuracy);
 * ```
 */
export async function resume<R = DeclaredResults>(
  runId: string,
  options: ResumeOptions<R> = {},
): Promise<RunHandle<R>> {
  return unwrap(await safeResume(runId, options));
}

/**
 * Like `resume`, but returns the error.
 *
 * @example
 * ```ts
 * import { safeResume } from 'sluice';
 *
 * const resumed = await safeResume('3o75');
 * if (!resumed.ok && resumed.error.code === 'RUN_IN_USE') console.log('another process executes it');
 * ```
 */
export function safeResume<R = DeclaredResults>(
  runId: string,
  options: ResumeOptions<R> = {},
): Promise<Result<RunHandle<R>, SluiceError<SluiceErrorCode>>> {
  return attempt(async () => {
    readArgument('resume: run', TEXT, runId);
    const { pipeline, ...read } = readArgument('resume', OPTIONS.resume, options);
    const built = pipeline === undefined ? ok(undefined) : buildGiven('resume: pipeline', pipeline);
    if (!built.ok) return built;
    return openRun<R>(
      { ...read, runId, declared: built.value?.pipeline.results, queue: createEventQueue() },
      ({ scope: _, limits: __, ...base }) => resumeRun({ ...base, runId }),
    );
  });
}
