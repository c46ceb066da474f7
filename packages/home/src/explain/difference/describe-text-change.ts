const MAX_TEXT = 60;

/** How two texts differ, shortened around the first difference. */
export interface TextChange {
  /** The line of the first difference, of texts with several lines. */
  readonly line?: number;
  /** Absent if the text has no such line. */
  readonly before?: string;
  readonly after?: string;
}

/** Where two texts begin to differ. Of texts with several lines, only the first line that differs. */
export function describeTextChange(before: string, after: string): TextChange {
  const [old, now] = [before.split('\n'), after.split('\n')];
  if (old.length === 1 && now.length === 1) return excerpts(before, after);
  let line = 0;
  while (line < old.length && line < now.length && old[line] === now[line]) line++;
  const [oldLine, newLine] = [old[line], now[line]];
  if (oldLine === undefined) return { line: line + 1, after: start(newLine ?? '') };
  if (newLine === undefined) return { line: line + 1, before: start(oldLine) };
  return { line: line + 1, ...excerpts(oldLine, newLine) };
}

/** Words for a change: `was 'a', is 'b'`. */
export function changeWords({ line, before, after }: TextChange): string {
  const where = line === undefined ? '' : `line ${line} `;
  if (before === undefined) return `${where}is new: '${after ?? ''}'`;
  if (after === undefined) return `${where}was removed: '${before}'`;
  return `${where}was '${before}', is '${after}'`;
}

function excerpts(before: string, after: string): TextChange {
  const [old, now] = [[...before], [...after]];
  let same = 0;
  while (same < old.length && old[same] === now[same]) same++;
  // What is before the difference says where it is.
  const from = Math.max(old.length, now.length) <= MAX_TEXT ? 0 : Math.max(0, same - MAX_TEXT / 3);
  return { before: cut(old, from), after: cut(now, from) };
}

function start(text: string): string {
  return cut([...text], 0);
}

function cut(points: readonly string[], from: number): string {
  const shown = points.slice(from, from + MAX_TEXT).join('');
  return `${from > 0 ? '…' : ''}${shown}${points.length > from + MAX_TEXT ? '…' : ''}`;
}
