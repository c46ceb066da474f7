import type { Diagnostic, SourceRange } from '../model/diagnostic.ts';

const STYLES = { red: 31, yellow: 33, cyan: 36, bold: 1, dim: 2 } as const;
type Paint = (style: keyof typeof STYLES, text: string) => string;

/** Longest part of a line that a frame shows. */
const WIDTH = 120;

/** Text for people: `file:line:column`, reason, code frame with caret, hint. Several lines, no final newline. `text` is the file's. */
export function renderDiagnostic(
  diagnostic: Diagnostic,
  options: { readonly text?: string; readonly color?: boolean } = {},
): string {
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
  const rows = text.replace(/^\ufeff/, '').split('\n');
  const row = rows[range.line - 1];
  if (row === undefined) return [];
  const gutter = String(range.line).length;
  const lines: string[] = [];
  const before = rows[range.line - 2];
  if (before !== undefined && before.trim() !== '')
    lines.push(frameLine(range.line - 1, gutter, cut(before, 0), paint));
  const start = Math.max(0, range.column - 1 - (WIDTH - 20));
  lines.push(frameLine(range.line, gutter, cut(row, start), paint));
  const column = range.column - 1 - start;
  const last = range.endLine === range.line ? range.endColumn : row.length + 1;
  const length = Math.max(1, Math.min(last - range.column, WIDTH - column));
  // Tabs stay tabs, so that the caret stands below its letter.
  const lead = row.slice(start, start + column).replace(/[^\t]/g, ' ');
  lines.push(`  ${' '.repeat(gutter)} ${paint('dim', '|')} ${lead}${paint('red', '^'.repeat(length))}`);
  return lines;
}

function frameLine(line: number, gutter: number, text: string, paint: Paint): string {
  return `  ${paint('dim', `${String(line).padStart(gutter)} |`)} ${text}`.trimEnd();
}

function cut(row: string, start: number): string {
  return harmless(row.slice(start, start + WIDTH).replace(/\r$/, ''));
}

/** Control characters are shown as such: a file, or a name in it, must not be able to drive the terminal. */
function harmless(text: string): string {
  return text.replace(/[^\t\P{Cc}]/gu, '\ufffd');
}
