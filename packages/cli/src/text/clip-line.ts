const RESET = '\u001b[0m';
/** An escape sequence of `Terminal.style`, or one character. */
const PIECES = new RegExp(`${String.fromCharCode(27)}\\[[0-9;]*m|.`, 'gsu');
const WIDE =
  /\p{Emoji_Presentation}|[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]/u;
const NO_WIDTH = /\p{Mn}|\p{Me}|\p{Cf}/u;

/** Of these, each takes one column: most lines, without a look at each character. */
const PLAIN = /^[\x20-\x7e]*$/;

/** The columns that a line takes on a terminal; styles take none. */
export function widthOf(line: string): number {
  if (PLAIN.test(line)) return line.length;
  return (line.match(PIECES) ?? []).reduce((sum, piece) => sum + pieceWidth(piece), 0);
}

/** Cuts the line to at most `columns` columns. An ellipsis marks the cut; open styles are reset. */
export function clipLine(line: string, columns: number): string {
  if (widthOf(line) <= columns) return line;
  let clipped = '';
  let width = 0;
  for (const piece of line.match(PIECES) ?? []) {
    width += pieceWidth(piece);
    if (width > columns - 1) break;
    clipped += piece;
  }
  return `${clipped}…${clipped.includes('\u001b') ? RESET : ''}`;
}

function pieceWidth(piece: string): number {
  if (piece.length > 2 || NO_WIDTH.test(piece)) return 0;
  return WIDE.test(piece) ? 2 : 1;
}
