import type { Diagnostic } from './diagnostic.ts';

/**
 * The one error that the public functions of the package `sluice` throw. Match on `code`, never on `instanceof`: two copies
 * of this package may be loaded.
 *
 * @example
 * ```ts
 * import { isSluiceError, pipeline, renderDiagnostic } from 'sluice';
 *
 * try {
 *   pipeline('Not A Name').build();
 * } catch (error) {
 *   if (!isSluiceError(error, 'INVALID_PIPELINE')) throw error;
 *   console.error(error.diagnostics.map((diagnostic) => renderDiagnostic(diagnostic)).join('\n'));
 * }
 * ```
 */
export class SluiceError<Code extends string = string> extends Error {
  override readonly name = 'SluiceError';
  /** Stable, in capitals: `INVALID_PIPELINE`, `RUN_NOT_FOUND`, `UNREACHABLE`, … */
  readonly code: Code;
  /** What is wrong in the pipeline or with its parameters; empty if that is not the cause. */
  readonly diagnostics: readonly Diagnostic[];

  constructor(
    code: Code,
    message: string,
    { diagnostics = [], cause }: { readonly diagnostics?: readonly Diagnostic[]; readonly cause?: unknown } = {},
  ) {
    super(message, cause === undefined ? undefined : { cause });
    this.code = code;
    this.diagnostics = diagnostics;
  }
}
