import {
  type CheckedPipeline,
  type ExpressionHandle,
  fail,
  guardArguments,
  isObject,
  type Json,
  limitParallelism,
  ok,
  own,
  type PipelineBuilder,
  type Result,
  requireArgument,
  SluiceError,
} from '@sluice/core';
import type { Reporter, RunError, RunnerEvent } from '@sluice/run';
import { findUnknown, type RunHandle as RunnerHandle, resumeRun, startRun } from '@sluice/runner';
import { createSecretReader } from '../home/create-secret-reader.ts';
import { keepReserve } from '../home/disk-reserve.ts';
import { type Connection, openAsCommand, prepareOwnHome } from './connection.ts';
import { attempt, type SluiceErrorCode, unwrap } from './error-code.ts';
import { createEventQueue } from './event-queue.ts';
import { directoryOf, safeCreatePlan } from './parse.ts';
import { OPTIONS, readArgument, TEXT } from './read-options.ts';
import { createRunHandle, type RunHandle, type RunHandleParts } from './run-handle.ts';
import type { DeclaredResults } from './run-result.ts';

/** What every run of a program may set. */
export interface ExecutionOptions {
  /** Default: what `openService` opens with `home` and `profile`, for this run. */
  readonly service?: Connection;
  /** Name or file of a profile, which says which service to use. Default: as for the command. */
  readonly profile?: string;
  /** Directory of runs, cache and embedded service. Default: the nearest `.sluice`, as for the command. */
  readonly home?: string;
  /** Values of secrets by name. Default: `SLUICE_SECRET_<name>`, then `secrets/<name>` in the home. Never stored. */
  readonly secrets?: Readonly<Record<string, string>>;
  /** Cancels the run. */
  readonly signal?: AbortSignal;
  /** Called with each event when it happens; must not throw. */
  readonly onEvent?: (event: RunnerEvent) => void;
}

/** How to resume a run. `R` are the values of the results that its pipeline declares. */
export interface ResumeOptions<R = DeclaredResults> extends ExecutionOptions {
  /** The pipeline of the run: gives `results` its types, and an error for a result whose step did not succeed. */
  readonly pipeline?: Pick<Runnable<unknown, R>, 'safeBuild' | 'resultValues'> | CheckedPipeline;
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
  /** Directory of relative `source` and `publish` paths. Default: that of the pipeline's file, else the working directory. */
  readonly baseDir?: string;
  /** Reuses successful, unchanged steps of this earlier run. */
  readonly reuseFrom?: string;
}

/** A pipeline from `pipeline()`, from `build()`, `loadPipeline()` or `parsePipeline()`. */
export type Runnable<P, R> = Pick<PipelineBuilder<never, never, R>, 'safeBuild' | 'resultValues'> & {
  readonly params: P;
};

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
  return attempt(async () => {
    const read = readArgument('run', OPTIONS.run, options);
    const { params = {}, parallelism, reuseFrom } = read;
    const built = buildGiven('run: the first argument', given);
    if (!built.ok) return built;
    const plan = safeCreatePlan(built.value, { params: params as Readonly<Record<string, Json>> });
    if (!plan.ok) return plan;
    const declared = built.value.pipeline.results;
    return execute<R>({ ...read, declared }, async ({ service, scope, ...base }) => {
      const unknown = await findUnknown({ plan: plan.value, service, scope });
      if (unknown !== undefined) return fail(new SluiceError('SERVICE_REJECTED', unknown));
      return startRun({
        ...base,
        service,
        scope,
        baseDir: read.baseDir ?? directoryOf(built.value),
        plan: limitParallelism(plan.value, parallelism),
        ...(reuseFrom !== undefined && { reuse: { runId: reuseFrom, from: [] } }),
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
    return execute<R>(
      { ...read, runId, declared: built.value?.pipeline.results },
      ({ scope: _, limits: __, ...base }) => resumeRun({ ...base, runId }),
    );
  });
}

type Rejection = RunError | SluiceError<SluiceErrorCode>;

interface Base extends Omit<Connection, 'close'> {
  readonly home: string;
  readonly secrets: (name: string) => string | undefined;
  readonly reporter: Reporter;
}

/** Opens what a run needs, and closes it when the run ends or cannot start. */
async function execute<R = DeclaredResults>(
  options: ExecutionOptions & Pick<RunHandleParts, 'declared'> & { readonly runId?: string },
  start: (base: Base) => Promise<Result<RunnerHandle, Rejection>>,
): Promise<Result<RunHandle<R>, Rejection>> {
  const { service, profile, secrets, signal, onEvent, declared, runId } = options;
  if (signal?.aborted) return fail(new SluiceError('ABORTED', 'the signal was aborted before the run started'));
  const home = await prepareOwnHome(options.home);
  if (!home.ok) return home;
  const reached = service ? ok(service) : await openAsCommand({ home: options.home, profile }, runId);
  if (!reached.ok) return reached;
  const opened = reached.value;
  // What is opened here keeps the reserve of its home by itself.
  const dropReserve = service && (await keepReserve(home.value));
  const close = async () => (dropReserve ? dropReserve() : opened.close());
  const queue = createEventQueue();
  const report = (event: RunnerEvent) => {
    queue.add(event);
    onEvent?.(event);
  };
  try {
    const started = await start({
      service: opened.service,
      scope: opened.scope,
      ...(opened.limits && { limits: opened.limits }),
      ...(opened.traces && { traces: opened.traces }),
      home: home.value,
      secrets: secrets === undefined ? createSecretReader(home.value, process.env) : (name) => own(secrets, name),
      reporter: { report },
    });
    if (started.ok) return ok(createRunHandle<R>(started.value, { queue, signal, close, declared }));
    await close();
    return started;
  } catch (error) {
    await close();
    throw error;
  }
}

/** Builds a builder. A checked pipeline stays as it is. */
function buildGiven(what: string, given: unknown): Result<CheckedPipeline, SluiceError<SluiceErrorCode>> {
  return guardArguments(what, () => {
    requireArgument(isObject(given), `${what} must be a pipeline`);
    if (typeof given.safeBuild === 'function') return given.safeBuild();
    requireArgument(isObject(given.pipeline), `${what} must be a pipeline`);
    return ok(given as unknown as CheckedPipeline);
  });
}
