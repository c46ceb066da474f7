import {
  type AxisFiles,
  type CheckedPipeline,
  fail,
  guardArguments,
  invalidPipeline,
  isObject,
  type Json,
  limitParallelism,
  ok,
  type Pipeline,
  type Plan,
  type Result,
  requireArgument,
  SluiceError,
} from '@sluice/core';
import { findUnknown, listAxisFiles, startRun } from '@sluice/runner';
import { hasFiles } from '../pipeline/has-files.ts';
import { readGivenParams } from '../pipeline/read-given-params.ts';
import { attempt, attemptNow, type SluiceErrorCode } from './error-code.ts';
import type { EventQueue } from './event-queue.ts';
import { openRun } from './open-run.ts';
import { directoryOf, safeCreatePlan } from './parse.ts';
import { OPTIONS, readArgument } from './read-options.ts';
import type { RunHandle } from './run-handle.ts';
import type { Runnable, RunOptions } from './run-options.ts';

/** Checks what the public function `name` was given, and starts its run. */
export function startGiven<P, R>(
  name: string,
  given: Runnable<P, R> | CheckedPipeline,
  { options, queue }: { readonly options: RunOptions<P>; readonly queue: EventQueue },
): Promise<Result<RunHandle<R>, SluiceError<SluiceErrorCode>>> {
  return attempt(async () => {
    const read = readArgument(name, OPTIONS.run, options);
    const { parallelism, reuseFrom } = read;
    const built = buildGiven(`${name}: the first argument`, given);
    if (!built.ok) return built;
    const params = readParams(built.value.pipeline, read);
    if (!params.ok) return params;
    const baseDir = read.baseDir ?? directoryOf(built.value);
    const planned = await planGiven(built.value, { params: params.value, baseDir });
    if (!planned.ok) return planned;
    const { plan } = planned.value;
    const declared = built.value.pipeline.results;
    return openRun<R>({ ...read, declared, queue }, async ({ service, scope, ...base }) => {
      const unknown = await findUnknown({ plan, service, scope });
      if (unknown !== undefined) return fail(new SluiceError('SERVICE_REJECTED', unknown));
      return startRun({
        ...base,
        service,
        scope,
        baseDir,
        plan: limitParallelism(plan, parallelism),
        ...(reuseFrom !== undefined && { reuse: { runId: reuseFrom, from: [] } }),
      });
    });
  });
}

/** Plans what a program gives. The `files` of axes over files are listed: `baseDir` is where the sources' paths start. */
export async function planGiven(
  built: CheckedPipeline,
  { params, baseDir }: { readonly params: Readonly<Record<string, Json>>; readonly baseDir: string },
): Promise<Result<{ readonly plan: Plan; readonly files: AxisFiles }, SluiceError<SluiceErrorCode>>> {
  // A program without types may give anything.
  const lists = attemptNow('createPlan', () => ok(hasFiles(built.pipeline)));
  if (!lists.ok) return lists;
  const { files, diagnostics } = lists.value
    ? await listAxisFiles(built.pipeline, baseDir)
    : { files: {}, diagnostics: [] };
  const errors = diagnostics.filter(({ severity }) => severity === 'error');
  if (errors.length > 0) return fail(invalidPipeline(built.pipeline.name, errors));
  const plan = safeCreatePlan(built, { params, files });
  return plan.ok ? ok({ plan: plan.value, files }) : plan;
}

/** The values of parameters that a program gives: those in a file, and those that replace them. */
export function readParams(
  pipeline: Pipeline,
  { params = {}, paramsFile }: Pick<RunOptions<unknown>, 'params' | 'paramsFile'>,
): Result<Readonly<Record<string, Json>>, SluiceError<SluiceErrorCode>> {
  const options = paramsFile === undefined ? {} : { paramsFile };
  const read = readGivenParams(pipeline, { cwd: process.cwd(), options });
  if (!read.ok) return fail(invalidPipeline(pipeline.name, read.error.diagnostics));
  return ok({ ...read.value, ...(params as Readonly<Record<string, Json>>) });
}

/** Builds a builder. A checked pipeline stays as it is. */
export function buildGiven(what: string, given: unknown): Result<CheckedPipeline, SluiceError<SluiceErrorCode>> {
  return guardArguments(what, () => {
    requireArgument(isObject(given), `${what} must be a pipeline`);
    if (typeof given.safeBuild === 'function') return given.safeBuild();
    requireArgument(isObject(given.pipeline), `${what} must be a pipeline`);
    return ok(given as unknown as CheckedPipeline);
  });
}
