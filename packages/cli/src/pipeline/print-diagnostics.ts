import { type Diagnostic, renderDiagnostic } from '@sluice/core';
import type { CommandContext, GlobalOptions } from '../command-context.ts';
import type { SourceTexts } from './load-plan.ts';

/** Prints diagnostics with their code frames to stderr; with `--json` as one JSON value per line to stdout. */
export function printDiagnostics(
  diagnostics: readonly Diagnostic[],
  texts: SourceTexts,
  { terminal, json }: { terminal: CommandContext['terminal'] } & Pick<GlobalOptions, 'json'>,
): void {
  for (const diagnostic of diagnostics) {
    if (json === true) {
      terminal.out(`${JSON.stringify({ type: 'diagnostic', ...diagnostic })}\n`);
      continue;
    }
    const text = diagnostic.range === undefined ? undefined : texts.get(diagnostic.range.file);
    const options = { color: terminal.color, ...(text === undefined ? {} : { text }) };
    terminal.err(`${renderDiagnostic(diagnostic, options)}\n\n`);
  }
}

/** `3 errors and 1 warning`. */
export function countDiagnostics(diagnostics: readonly Diagnostic[]): string {
  const errors = diagnostics.filter(({ severity }) => severity === 'error').length;
  const warnings = diagnostics.length - errors;
  const parts = [
    ...(errors > 0 || warnings === 0 ? [`${errors} error${errors === 1 ? '' : 's'}`] : []),
    ...(warnings > 0 ? [`${warnings} warning${warnings === 1 ? '' : 's'}`] : []),
  ];
  return parts.join(' and ');
}
