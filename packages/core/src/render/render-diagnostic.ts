import type { Diagnostic, SourceRange } from '../model/diagnostic.ts';
import { guardArguments } from '../model/guard-arguments.ts';

const STYLES = { red: 31, yellow: 33, cyan: 36, bold: 1, dim: 2 } as const;
type Paint = (style: keyof typeof STYLES, text: string) => string;

/** Most characters of a line in a code frame. */
const WIDTH = 120;

/**
 * Text for people: `file:line:column`, message, code frame with caret, hint. Several lines without a final newline.
 * `text` is that of the file; without it, there is no code frame.
 *
 * @example
 * ```ts
 * import { renderDiagnostic, safeParsePipeline } from 'sluice';
 *
 * const text = 'version: 1';
 * const parsed = safeParsePipeline({ file: 'p.yaml', text });
 * if (!parsed.ok) for (const one of parsed.error.diagnostics) console.error(renderDiagnostic(one, { text }));
 * ```
 */
export function renderDiagnostic(
  diagnostic: Diagnostic,
  options: { readonly text?: string; readonly color?: boolean } = {},
): string {
  return guardArguments('renderDiagnostic', () => render(diagnostic, options));
}

function render(diagnostic: Diagnostic, options: { readonly text?: string; readonly color?: boolean }): string {
  const paint: Paint = (style, text) => (options.color === true ? `\u001b[${STYLES[style]}m${text}\u001b[0m` : text);
  const { range, severity, code, related } = diagnostic;
  const message = harmless(diagnostic.message);
  const hint = diagnostic.hint === undefined ? undefined : harmless(diagnostic.hint);
  const place =
    range === undefined ? '' : `${paint('bold', harmless(`${range.file}:${range.line}:${range.column}`))}: `;
  const lines = [
    `${place}${paint(severity === 'error' ? 'red' : 'yellow', severity)}: ${message} ${paint('dim', `[${code}]`)}`,
  ];
  if (range !== undefined && options.text !== undefined) lines.push(...frame(range, options.text, paint));
  if (hint !== undefined) lines.push(`  ${paint('cyan', 'hint')}: ${hint}`);
  for (const place of related ?? []) {
    lines.push(
      `  ${paint('dim', harmless(`${place.range.file}:${place.range.line}:${place.range.column}`))}: ${harmless(place.message)}`,
    );
  }
  return lines.join('\n');
}

function frame(range: SourceRange, text: string, paint: Paint): string[] {
  const { before, row } = rowsAt(text.replace(/^\ufeff/, ''), range.line);
  if (row === undefined) return [];
  const gutter = String(range.line).length;
  const frameLine = (line: number, shown: string): string =>
    `  ${paint('dim', `${String(line).padStart(gutter)} |`)} ${shown}`.trimEnd();
  const lines: string[] = [];
  if (before !== undefined && before.trim() !== '') lines.push(frameLine(range.line - 1, cut(before, 0)));
  const start = Math.max(0, range.column - 1 - (WIDTH - 20));
  lines.push(frameLine(range.line, cut(row, start)));
  const column = range.column - 1 - start;
  const last = range.endLine === range.line ? range.endColumn : row.length + 1;
  const length = Math.max(1, Math.min(last - range.column, WIDTH - column));
  // Tabs are kept, so that the caret is below its character.
  const lead = row.slice(start, start + column).replace(/[^\t]/g, ' ');
  lines.push(`  ${' '.repeat(gutter)} ${paint('dim', '|')} ${lead}${paint('red', '^'.repeat(length))}`);
  return lines;
}

/** Finds a line and the one before it without splitting the text: it may have millions of lines. */
function rowsAt(text: string, line: number): { before: string | undefined; row: string | undefined } {
  let before: string | undefined;
  let start = 0;
  for (let at = 1; at < line; at++) {
    const end = text.indexOf('\n', start);
    if (end === -1) return { before: undefined, row: undefined };
    if (at === line - 1) before = text.slice(start, end);
    start = end + 1;
  }
  const end = text.indexOf('\n', start);
  return { before, row: text.slice(start, end === -1 ? text.length : end) };
}

function cut(row: string, start: number): string {
  return harmless(row.slice(start, start + WIDTH).replace(/\r$/, ''));
}

/** Replaces control characters, so that a file or a name in it cannot control the terminal. */
function harmless(text: string): string {
  return text.replace(/[^\t\P{Cc}]/gu, '\ufffd');
}
