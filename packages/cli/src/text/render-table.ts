import { widthOf } from './clip-line.ts';
import { onOneLine } from './on-one-line.ts';
import { fitColumn, shorten } from './shorten.ts';

/** Widest cell: one huge value would make every row as wide. */
const MOST_COLUMNS = 48;
/** The last cell of a row needs no alignment and may be wider. */
const MOST_IN_LAST = 200;

/**
 * Columns padded to their widest cell, separated by two blanks, without trailing blanks. `mostColumns` is for tables
 * with IDs of known length, which must not be cut.
 */
export function renderTable(rows: readonly (readonly string[])[], mostColumns = MOST_COLUMNS): string {
  const bounded = rows.map((row) =>
    row.map((cell, i) => shorten(onOneLine(cell), i === row.length - 1 ? MOST_IN_LAST : mostColumns)),
  );
  const widths: number[] = [];
  for (const row of bounded) {
    row.slice(0, -1).forEach((cell, i) => {
      widths[i] = Math.max(widths[i] ?? 0, widthOf(cell));
    });
  }
  return bounded
    .map((row) => {
      const cells = row.map((cell, i) => (i === row.length - 1 ? cell : fitColumn(cell, widths[i] ?? 0)));
      return `${cells.join('  ').trimEnd()}\n`;
    })
    .join('');
}
