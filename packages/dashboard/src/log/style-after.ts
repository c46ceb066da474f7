const ESCAPE = '\u001b';
const SEQUENCE = new RegExp(`${ESCAPE}\\[([\\d;]*)m`, 'g');
const LIKE_NOTHING = new Map([
  [22, ['1', '2']],
  [23, ['3']],
  [24, ['4']],
  [39, ['text']],
  [49, ['background']],
]);

/**
 * The ANSI sequence that restores the appearance at the end of a line that began with `style`: colors and weights of a log
 * continue until they are reset, also over many lines.
 */
export function styleAfter(style: string, line: string): string {
  if (!line.includes(ESCAPE)) return style;
  const set = new Map<string, string>();
  for (const [, codes = ''] of `${style}${line}`.matchAll(SEQUENCE)) apply(set, codes.split(';'));
  return set.size === 0 ? '' : `${ESCAPE}[${[...set.values()].join(';')}m`;
}

/** The codes of one sequence; an empty one is 0. */
function apply(set: Map<string, string>, codes: readonly string[]): void {
  for (let place = 0; place < codes.length; place++) {
    const code = Number(codes[place]);
    const slot = slotOf(code);
    if (code === 0) set.clear();
    else if (code === 38 || code === 48) {
      // 5 and one number, or 2 and three numbers.
      const length = codes[place + 1] === '5' ? 3 : codes[place + 1] === '2' ? 5 : 1;
      if (length > 1) set.set(slot!, codes.slice(place, place + length).join(';'));
      place += length - 1;
    } else if (slot !== undefined) set.set(slot, String(code));
    else for (const like of LIKE_NOTHING.get(code) ?? []) set.delete(like);
  }
}

/** What a code sets; undefined if it sets nothing that is shown. */
function slotOf(code: number): string | undefined {
  if (code >= 1 && code <= 4) return String(code);
  if ((code >= 30 && code <= 38) || (code >= 90 && code <= 97)) return 'text';
  return (code >= 40 && code <= 48) || (code >= 100 && code <= 107) ? 'background' : undefined;
}
