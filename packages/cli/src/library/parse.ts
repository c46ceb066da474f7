import {
  type CheckedPipeline,
  createPlan as createPlanOfCore,
  type Json,
  type PipelineSource,
  type Plan,
  parsePipeline as parseOfCore,
  type Result,
  type SluiceError,
} from '@sluice/core';
import { attemptNow, type SluiceErrorCode, unwrap } from './error-code.ts';
import { OPTIONS, readArgument } from './read-options.ts';

/**
 * Reads and checks the text of a pipeline file (YAML 1.2 or JSON). Throws `SluiceError` `INVALID_PIPELINE` with all
 * diagnostics. `read` is needed for files with `include` or `uses`.
 *
 * @example
 * ```ts
 * import { readFileSync } from 'node:fs';
 * import { parsePipeline, run } from 'sluice';
 *
 * const file = 'pipeline.yaml';
 * await run(parsePipeline({ file, text: readFileSync(file, 'utf8') }));
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
  return attemptNow('parsePipeline', () => parseOfCore(readArgument('parsePipeline', OPTIONS.source, source)));
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
export function createPlan(
  checked: CheckedPipeline,
  options: { readonly params?: Readonly<Record<string, Json>> } = {},
): Plan {
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
  options: { readonly params?: Readonly<Record<string, Json>> } = {},
): Result<Plan, SluiceError<SluiceErrorCode>> {
  return attemptNow('createPlan', () =>
    createPlanOfCore(checked.pipeline, readArgument('createPlan', OPTIONS.plan, options)),
  );
}
