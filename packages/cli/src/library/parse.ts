import { dirname, relative, resolve } from 'node:path';
import {
  type AxisFiles,
  type CheckedPipeline,
  createPlan as createPlanOfCore,
  fail,
  isObject,
  type Json,
  type PipelineSource,
  type Plan,
  parsePipeline as parseOfCore,
  type Result,
  SluiceError,
} from '@sluice/core';
import type { LoadedPlan } from '../pipeline/load-plan.ts';
import { openPipelineFiles } from '../pipeline/pipeline-files.ts';
import { attempt, attemptNow, type SluiceErrorCode, unwrap } from './error-code.ts';
import { OPTIONS, readArgument, TEXT } from './read-options.ts';

/** What a parsed pipeline was read from. */
interface Origin {
  /** Where its relative paths start, absolute. */
  readonly directory: string;
  readonly file: string;
  /** By the name in `include` and `uses`. */
  readonly texts: ReadonlyMap<string, string>;
  readonly locate: LoadedPlan['locate'];
}

const origins = new WeakMap<CheckedPipeline, Origin>();

/** What a pipeline was read from; undefined for one of a builder. */
export function originOf(checked: CheckedPipeline): Origin | undefined {
  return origins.get(checked);
}

/** The directory of the file of a pipeline; that of the process for one of a builder. */
export function directoryOf(checked: CheckedPipeline): string {
  return originOf(checked)?.directory ?? process.cwd();
}

/** Which files of a project a pipeline may include or use. */
export interface LoadOptions {
  /** Only files below this directory. Default: the top of the git work tree, else the directory of the file. */
  readonly root?: string;
}

/**
 * Reads and checks a pipeline file (YAML 1.2 or JSON) with the files that it includes and uses, as the command does: relative
 * paths in it start at its directory. Throws `SluiceError` `INVALID_PIPELINE` with all diagnostics.
 *
 * @example
 * ```ts
 * import { loadPipeline, run } from 'sluice';
 *
 * const started = await run(await loadPipeline('pipelines/train.yaml'));
 * console.log((await started.finished).status);
 * ```
 */
export async function loadPipeline(file: string, options: LoadOptions = {}): Promise<CheckedPipeline> {
  return unwrap(await safeLoadPipeline(file, options));
}

/**
 * Like `loadPipeline`, but returns the error.
 *
 * @example
 * ```ts
 * import { safeLoadPipeline } from 'sluice';
 *
 * const loaded = await safeLoadPipeline('pipelines/train.yaml');
 * if (!loaded.ok) console.error(loaded.error.message);
 * ```
 */
export function safeLoadPipeline(
  file: string,
  options: LoadOptions = {},
): Promise<Result<CheckedPipeline, SluiceError<SluiceErrorCode>>> {
  return attempt(async () => {
    const path = resolve(readArgument('loadPipeline: file', TEXT, file));
    const cwd = process.cwd();
    const files = openPipelineFiles(path, { cwd, ...readArgument('loadPipeline', OPTIONS.load, options) });
    const text = files.readMain();
    if (!text.ok) return fail(new SluiceError('SYSTEM', `could not read ${path}: ${text.error}`));
    return safeParsePipeline({ text: text.value, file: relative(cwd, path) || path, read: files.readOther });
  });
}

/**
 * Reads and checks the text of a pipeline file (YAML 1.2 or JSON). Throws `SluiceError` `INVALID_PIPELINE` with all
 * diagnostics. `read` is needed for files with `include` or `uses`. Relative paths start at the directory of `file`, which
 * need not exist.
 *
 * @example
 * ```ts
 * import { parsePipeline, run } from 'sluice';
 *
 * const text = 'version: 1\nname: hello\nsteps: { hello: { command: [echo, hello] } }\n';
 * await run(parsePipeline({ file: 'hello.yaml', text }));
 * ```
 */
export function parsePipeline(source: PipelineSource): CheckedPipeline {
  return unwrap(safeParsePipeline(source));
}

/**
 * Like `parsePipeline`, but returns the error.
 *
 * @example
 * ```ts
 * import { safeParsePipeline } from 'sluice';
 *
 * const parsed = safeParsePipeline({ file: 'p.yaml', text: 'version: 1' });
 * if (!parsed.ok) console.error(parsed.error.diagnostics.length, 'errors');
 * ```
 */
export function safeParsePipeline(source: PipelineSource): Result<CheckedPipeline, SluiceError<SluiceErrorCode>> {
  return attemptNow('parsePipeline', () => {
    const read = readArgument('parsePipeline', OPTIONS.source, source);
    const { file, text, read: readOther } = read;
    const texts = new Map([[file, text]]);
    const parsed = parseOfCore({ file, text, ...(readOther && { read: keepTexts(readOther, texts) }) });
    if (!parsed.ok) return parsed;
    origins.set(parsed.value, { directory: dirname(resolve(file)), file, texts, locate: parsed.value.locate });
    return parsed;
  });
}

function keepTexts(read: NonNullable<PipelineSource['read']>, texts: Map<string, string>): typeof read {
  return (path) => {
    const text = read(path);
    // A program without types may return anything.
    if (isObject(text) && text.ok && typeof text.value === 'string') texts.set(path, text.value);
    return text;
  };
}

/** What a plan adds to its pipeline. */
export interface PlanValues {
  readonly params?: Readonly<Record<string, Json>>;
  /** By axis over the files of a source: their paths in it, sorted. `run` and `submit` list them themselves. */
  readonly files?: AxisFiles;
}

/**
 * Binds the parameters of a pipeline and expands its matrices, without a service. Throws `SluiceError`
 * `INVALID_PIPELINE`.
 *
 * @example
 * ```ts
 * import { createPlan, pipeline } from 'sluice';
 *
 * const p = pipeline('p', { params: { n: 5 } });
 * p.step('a', { command: ['echo', p.params.n] });
 * console.log(createPlan(p.build(), { params: { n: 7 } }).steps.length);
 * ```
 */
export function createPlan(checked: CheckedPipeline, options: PlanValues = {}): Plan {
  return unwrap(safeCreatePlan(checked, options));
}

/**
 * Like `createPlan`, but returns the error.
 *
 * @example
 * ```ts
 * import { pipeline, safeCreatePlan } from 'sluice';
 *
 * const p = pipeline('p', { params: { n: { type: 'integer', minimum: 1 } } });
 * p.step('a', { command: ['echo', p.params.n] });
 * const plan = safeCreatePlan(p.build(), { params: { n: 0 } });
 * if (!plan.ok) console.error(plan.error.message);
 * ```
 */
export function safeCreatePlan(
  checked: CheckedPipeline,
  options: PlanValues = {},
): Result<Plan, SluiceError<SluiceErrorCode>> {
  return attemptNow('createPlan', () =>
    createPlanOfCore(checked.pipeline, readArgument('createPlan', OPTIONS.plan, options)),
  );
}
