/**
 * The line on which a row of a table begins, from 1. `index`: among the rows that are not empty, from 0. All rows before it
 * must be valid, so that every second quote closes a value.
 */
export function findRowLine(text: string, index: number): number {
  let [line, row, isQuoted, isEmpty] = [1, 0, false, true];
  for (const [token] of text.matchAll(/\r\n?|\n|"|[^\r\n"]+/g)) {
    if (token === '"') isQuoted = !isQuoted;
    if (token.startsWith('\r') || token === '\n') {
      line++;
      if (isQuoted) continue;
      if (!isEmpty) row++;
      isEmpty = true;
    } else if (isEmpty && token !== '\ufeff') {
      if (row === index) return line;
      isEmpty = false;
    }
  }
  return line;
}
