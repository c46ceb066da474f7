import { type Diagnostic, renderDiagnostic } from '@sluice/core';
import type { CommandContext, GlobalOptions } from '../context/command-context.ts';
import type { SourceTexts } from './load-plan.ts';

/** As many as a person reads; a program is given more, and neither an output that grows with a hostile file. */
const MOST_SHOWN = 20;
const MOST_AS_JSON = 1000;

/**
 * Prints diagnostics with their code frames to stderr; with `--json` as one JSON value per line to stdout. Of many,
 * only the first are printed, errors before warnings, and their number is given for the others.
 */
export function printDiagnostics(
  diagnostics: readonly Diagnostic[],
  texts: SourceTexts,
  { terminal, json }: { terminal: CommandContext['terminal'] } & Pick<GlobalOptions, 'json'>,
): void {
  const shown = chooseShown(diagnostics, json === true ? MOST_AS_JSON : MOST_SHOWN);
  for (const diagnostic of shown) {
    if (json === true) {
      terminal.out(`${JSON.stringify({ type: 'diagnostic', ...diagnostic })}\n`);
      continue;
    }
    const text = diagnostic.range === undefined ? undefined : texts.get(diagnostic.range.file);
    const options = { color: terminal.color, ...(text === undefined ? {} : { text }) };
    terminal.err(`${renderDiagnostic(diagnostic, options)}\n\n`);
  }
  if (shown.length === diagnostics.length) return;
  const printed = new Set(shown);
  const others = diagnostics.filter((diagnostic) => !printed.has(diagnostic));
  if (json === true) terminal.out(`${JSON.stringify({ type: 'omitted', ...count(others) })}\n`);
  else terminal.err(`and ${countDiagnostics(others, 'more ')}\n\n`);
}

/** In file order; where not all can be shown, no warning takes the place of an error. */
function chooseShown(diagnostics: readonly Diagnostic[], most: number): readonly Diagnostic[] {
  if (diagnostics.length <= most) return diagnostics;
  const errors = diagnostics.filter(({ severity }) => severity === 'error').slice(0, most);
  const warnings = diagnostics.filter(({ severity }) => severity === 'warning').slice(0, most - errors.length);
  const chosen = new Set([...errors, ...warnings]);
  return diagnostics.filter((diagnostic) => chosen.has(diagnostic));
}

function count(diagnostics: readonly Diagnostic[]): { readonly errors: number; readonly warnings: number } {
  const errors = diagnostics.filter(({ severity }) => severity === 'error').length;
  return { errors, warnings: diagnostics.length - errors };
}

/** `3 errors and 1 warning`; `more` stands between number and noun. */
export function countDiagnostics(diagnostics: readonly Diagnostic[], more: '' | 'more ' = ''): string {
  const { errors, warnings } = count(diagnostics);
  const named = (number: number, noun: string) =>
    `${number.toLocaleString('en-US')} ${more}${noun}${number === 1 ? '' : 's'}`;
  const parts = [
    ...(errors > 0 || warnings === 0 ? [named(errors, 'error')] : []),
    ...(warnings > 0 ? [named(warnings, 'warning')] : []),
  ];
  return parts.join(' and ');
}
