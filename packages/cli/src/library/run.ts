import type { CheckedPipeline, ExpressionHandle, Json, PipelineBuilder, Result } from '@sluice/core';
import { createPlan, fail, ok, own, requireArgument, SluiceError } from '@sluice/core';
import {
  findUnknown,
  type Reporter,
  type RunnerEvent,
  type RunHandle as RunnerHandle,
  resumeRun,
  startRun,
} from '@sluice/runner';
import { openEmbeddedService } from '../embedded/embedded-service.ts';
import { createSecretReader } from '../home/create-secret-reader.ts';
import { limitParallelism } from '../pipeline/limit-parallelism.ts';
import { type Connection, prepareHome } from './connection.ts';
import { attempt, type SluiceErrorCode, unwrap } from './error-code.ts';
import { createEventQueue } from './event-queue.ts';
import { createRunHandle, type RunHandle } from './run-handle.ts';

/** What every run of a program may set. */
export interface ExecutionOptions {
  /** Default: the embedded service of the home, opened for this run. */
  readonly service?: Connection;
  /** Directory of runs, cache and embedded service. Default: the nearest `.sluice`, as for the command. */
  readonly home?: string;
  /** Values of secrets by name. Default: `SLUICE_SECRET_<name>`, then `secrets/<name>` in the home. Never stored. */
  readonly secrets?: Readonly<Record<string, string>>;
  /** Cancels the run. */
  readonly signal?: AbortSignal;
  /** Called with each event when it happens; must not throw. */
  readonly onEvent?: (event: RunnerEvent) => void;
}

/** Values for the parameters of a pipeline; those without a default are required. */
export type ParamValues<P> = {
  readonly [K in keyof P]?: P[K] extends ExpressionHandle<infer T> ? T : Json;
};

/** How to run a pipeline. `P` are the parameter handles of its builder. */
export interface RunOptions<P = Readonly<Record<string, ExpressionHandle<Json>>>> extends ExecutionOptions {
  readonly params?: ParamValues<P>;
  /** Maximum number of concurrent containers; the lower of this and the pipeline's own applies. */
  readonly parallelism?: number;
  /** Directory of relative `source` and `publish` paths. Default: the working directory. */
  readonly baseDir?: string;
  /** Reuses successful, unchanged steps of this earlier run. */
  readonly reuseFrom?: string;
}

/** A pipeline from `pipeline()`, from `build()` or from `parsePipeline()`. */
export type Runnable<P> = Pick<PipelineBuilder<never, never>, 'safeBuild'> & { readonly params: P };

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
export async function run<P>(given: Runnable<P> | CheckedPipeline, options: RunOptions<P> = {}): Promise<RunHandle> {
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
export function safeRun<P>(
  given: Runnable<P> | CheckedPipeline,
  options: RunOptions<P> = {},
): Promise<Result<RunHandle, SluiceError<SluiceErrorCode>>> {
  return attempt(async () => {
    const { params = {}, parallelism, baseDir = process.cwd(), reuseFrom } = options;
    requireArgument(isRunnable(given), 'run: the first argument must be a pipeline');
    requireArgument(
      parallelism === undefined || (Number.isInteger(parallelism) && parallelism > 0),
      'run: parallelism must be a positive integer',
    );
    const built = 'safeBuild' in given ? given.safeBuild() : ok(given);
    if (!built.ok) return built as Result<never, SluiceError<SluiceErrorCode>>;
    const plan = createPlan(built.value.pipeline, { params: params as Readonly<Record<string, Json>> });
    if (!plan.ok) return plan;
    return execute(options, async ({ service, scope, ...base }) => {
      const unknown = await findUnknown({ plan: plan.value, service, scope });
      if (unknown !== undefined) return fail(new SluiceError('SERVICE_REFUSED', unknown));
      return startRun({
        ...base,
        service,
        scope,
        baseDir,
        plan: limitParallelism(plan.value, parallelism),
        ...(reuseFrom !== undefined && { reuse: { runId: reuseFrom, again: [] } }),
      });
    });
  });
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
 */
export async function resume(runId: string, options: ExecutionOptions = {}): Promise<RunHandle> {
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
export function safeResume(
  runId: string,
  options: ExecutionOptions = {},
): Promise<Result<RunHandle, SluiceError<SluiceErrorCode>>> {
  return attempt(async () => {
    requireArgument(typeof runId === 'string', 'resume: the ID of the run must be a string');
    return execute(options, ({ scope: _, ...base }) => resumeRun({ ...base, runId }));
  });
}

interface Base extends Pick<Connection, 'service' | 'scope'> {
  readonly home: string;
  readonly secrets: (name: string) => string | undefined;
  readonly reporter: Reporter;
}

/** Opens what a run needs, and closes it when the run ends or cannot start. */
async function execute<E>(
  options: ExecutionOptions,
  start: (base: Base) => Promise<Result<RunnerHandle, E>>,
): Promise<Result<RunHandle, E | SluiceError<SluiceErrorCode>>> {
  const { service, secrets, signal, onEvent } = options;
  if (signal?.aborted) return fail(new SluiceError('ABORTED', 'the signal was aborted before the run started'));
  const home = await prepareHome(options.home);
  if (!home.ok) return home;
  const opened = service ?? (await openEmbeddedService(home.value));
  const close = async () => {
    if (service === undefined) await opened.close();
  };
  const queue = createEventQueue();
  const report = (event: RunnerEvent) => {
    queue.add(event);
    onEvent?.(event);
  };
  try {
    const started = await start({
      service: opened.service,
      scope: opened.scope,
      home: home.value,
      secrets: secrets === undefined ? createSecretReader(home.value, process.env) : (name) => own(secrets, name),
      reporter: { report },
    });
    if (started.ok) return ok(createRunHandle(started.value, { queue, signal, close }));
    await close();
    return started;
  } catch (error) {
    await close();
    throw error;
  }
}

function isRunnable(value: unknown): boolean {
  return typeof value === 'object' && value !== null && ('safeBuild' in value || 'pipeline' in value);
}
