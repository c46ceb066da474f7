import type { SourceRange } from '../model/diagnostic.ts';

/** Converts offsets of one text to lines and columns. */
export interface LineIndex {
  readonly range: (start: number, end: number) => SourceRange;
}

/** `file` is the name in the ranges. Offsets outside the text are clamped. */
export function createLineIndex(file: string, text: string): LineIndex {
  const starts = [0];
  for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) starts.push(at + 1);
  const place = (offset: number): { line: number; column: number } => {
    const bounded = Math.max(0, Math.min(offset, text.length));
    let low = 0;
    let high = starts.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if ((starts[middle] ?? 0) <= bounded) low = middle;
      else high = middle - 1;
    }
    return { line: low + 1, column: bounded - (starts[low] ?? 0) + 1 };
  };
  return {
    range(start, end) {
      const from = place(start);
      const to = place(Math.max(start, end));
      return { file, line: from.line, column: from.column, endLine: to.line, endColumn: to.column };
    },
  };
}
