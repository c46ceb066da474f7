import { clipLine, widthOf } from './clip-line.ts';

/** The text in at most `columns` columns. An ellipsis replaces its middle, because names often differ at their ends. */
export function shorten(text: string, columns: number): string {
  if (text.length <= columns && widthOf(text) <= columns) return text;
  const head = clipLine(text.slice(0, columns + 1), Math.ceil(columns / 2));
  const rest = columns - widthOf(head);
  const points = [...text.slice(-columns)].reverse();
  let tail = '';
  for (const point of points) {
    if (widthOf(point + tail) > rest) break;
    tail = point + tail;
  }
  return `${head}${tail}`;
}

/** The text in exactly `columns` columns, shortened or padded with blanks. */
export function fitColumn(text: string, columns: number): string {
  const shown = shorten(text, columns);
  return `${shown}${' '.repeat(Math.max(0, columns - widthOf(shown)))}`;
}

/** `a, b and 9,998 more`: as many names as fit in `columns`, at least one. */
export function listSome(names: readonly string[], columns: number): string {
  let shown = '';
  let count = 0;
  for (const name of names) {
    const next = count === 0 ? shorten(name, columns) : `${shown}, ${name}`;
    if (count > 0 && next.length > columns) break;
    shown = next;
    count++;
  }
  const more = names.length - count;
  return more === 0 ? shown : `${shown} and ${more.toLocaleString('en-US')} more`;
}
