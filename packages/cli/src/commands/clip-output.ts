import { printableLine } from '@sluice/run';

/** An assistant reads at most this many characters of an output at once. */
const PAGE_CHARACTERS = 20_000;
const PAGE_LINES = 200;
const LINE_CHARACTERS = 1_000;

/** A part of a text: `first` is the number of its first line, `last` the number of lines at the end of the text. */
type Part = { readonly first: number } | { readonly last: number };

/** The part of a text that an assistant gets, with a note on what is missing. Control characters are removed. */
export function clipOutput(text: string, part: Part): string {
  const lines = splitLines(text);
  if ('last' in part) {
    const tail = takeLines(lines.slice(-part.last).reverse()).reverse();
    return tail.length === lines.length ? joinLines(tail) : `(the last ${tail.length} lines)\n${joinLines(tail)}`;
  }
  const { first } = part;
  if (first > Math.max(1, lines.length)) return `\n(there is no line ${first}: the last one is line ${lines.length})\n`;
  const page = takeLines(lines.slice(first - 1, first - 1 + PAGE_LINES));
  const next = first + page.length;
  if (first === 1 && next > lines.length) return joinLines(page);
  const rest = next > lines.length ? '' : `; for the next page, call again with line ${next}`;
  return `${joinLines(page)}\n(lines ${first} to ${next - 1} of ${lines.length}${rest})\n`;
}

function splitLines(text: string): readonly string[] {
  const lines = text.split('\n');
  return lines.at(-1) === '' ? lines.slice(0, -1) : lines;
}

/** As many of the first lines as fit, each shortened. */
function takeLines(lines: readonly string[]): string[] {
  const taken: string[] = [];
  let size = 0;
  for (const line of lines) {
    const plain = printableLine(line);
    const shown = plain.length > LINE_CHARACTERS ? `${plain.slice(0, LINE_CHARACTERS - 1)}…` : plain;
    size += shown.length + 1;
    if (size > PAGE_CHARACTERS) break;
    taken.push(shown);
  }
  return taken;
}

function joinLines(lines: readonly string[]): string {
  return lines.map((line) => `${line}\n`).join('');
}
