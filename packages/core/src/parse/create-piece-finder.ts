/** Offsets of a piece of a value in its raw text; undefined if they differ too much. */
export type FindPiece = (piece: { readonly start: number; readonly end: number }) => Piece | undefined;

interface Piece {
  readonly start: number;
  readonly end: number;
}

/** Start of a line in the value, its indentation, and the position after the indentation in the file. */
interface Line {
  readonly offset: number;
  readonly length: number;
  readonly lead: number;
  readonly at: number;
}

/**
 * Finds pieces of a value in `raw`, its text in the file, line by line, because block text is indented only in the
 * file. The lines are compared once for all pieces.
 */
export function createPieceFinder(raw: string, text: string): FindPiece {
  const lines: Line[] = [];
  let offset = 0;
  let cursor = 0;
  for (const line of text.split('\n')) {
    const trimmed = line.trim();
    const at = raw.indexOf(trimmed, cursor);
    // Escapes and folded lines differ from their value; everything after them is located at the whole text.
    if (at === -1) break;
    lines.push({ offset, length: line.length, lead: line.length - line.trimStart().length, at });
    offset += line.length + 1;
    cursor = at + trimmed.length;
  }
  return ({ start, end }) => {
    const line = lastAt(lines, start);
    if (line === undefined || start > line.offset + line.length) return undefined;
    const begin = line.at + start - line.offset - line.lead;
    return { start: begin, end: begin + Math.min(end, line.offset + line.length) - start };
  };
}

function lastAt(lines: readonly Line[], start: number): Line | undefined {
  let low = 0;
  let high = lines.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (lines[middle]!.offset <= start) low = middle;
    else high = middle - 1;
  }
  return lines[low];
}
