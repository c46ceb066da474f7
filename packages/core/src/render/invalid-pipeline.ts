import type { Diagnostic } from '../model/diagnostic.ts';
import { SluiceError } from '../model/sluice-error.ts';
import { renderDiagnostic } from './render-diagnostic.ts';

/** The error for a pipeline that did not pass the checks; its message lists the diagnostics, as the command prints them. */
export function invalidPipeline(name: string, diagnostics: readonly Diagnostic[]): SluiceError<'INVALID_PIPELINE'> {
  const list = diagnostics.map((diagnostic) => renderDiagnostic(diagnostic)).join('\n');
  return new SluiceError('INVALID_PIPELINE', `the pipeline ${name} is invalid:\n${list}`, { diagnostics });
}
