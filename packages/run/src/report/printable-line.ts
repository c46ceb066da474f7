const ESCAPE = String.fromCharCode(27);
const CSI = `(?:${ESCAPE}\\[|\\u009b)[0-?]*[ -/]*[@-~]`;
/** Titles, links and other strings, including their terminator. */
const STRING = `${ESCAPE}[\\]PX^_][^\\u0007${ESCAPE}]*(?:\\u0007|${ESCAPE}\\\\)?`;
const PAIR = `${ESCAPE}[ -/]*[0-~]`;
const SEQUENCES = new RegExp(`${CSI}|${STRING}|${PAIR}`, 'g');
/**
 * Other control characters, those that change the direction of text or separate lines, and what no XML document may
 * contain.
 */
const CONTROLS = /[\p{Cc}\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufffe\uffff]/gu;
const HAS_CONTROLS = new RegExp(CONTROLS.source, 'u');
/** Nearly every text; found faster than the controls. */
const PLAIN = /^[ -~]*$/;

/**
 * A line of a log without escape sequences and control characters, so that it cannot move the cursor, set colors or
 * titles, or hide text. If carriage returns overwrite a progress line, only the last version is kept.
 */
export function printableLine(line: string): string {
  const plain = line.replace(SEQUENCES, '');
  const drawn = plain.replace(/\r+$/, '');
  const shown = drawn.slice(drawn.lastIndexOf('\r') + 1);
  return shown.replaceAll('\t', '    ').replace(CONTROLS, '');
}

/** Values that are shown as JSON or shortened by their renderer, which makes them printable. */
const VALUES: ReadonlySet<string> = new Set(['results', 'item', 'matrix']);

/** Data with every text and name in it as a printable line, except values. For what a terminal shows of runs and services. */
export function printableData<T>(data: T): T {
  return printable(data) as T;
}

function printable(value: unknown): unknown {
  if (typeof value === 'string') return isPrintable(value) ? value : printableLine(value);
  // Each event of a run comes here, so nothing is copied without need.
  if (typeof value !== 'object' || value === null || isPrintable(value)) return value;
  if (Array.isArray(value)) return value.map(printable);
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [printable(key), VALUES.has(key) ? item : printable(item)]),
  );
}

function isPrintable(value: unknown): boolean {
  if (typeof value === 'string') return PLAIN.test(value) || !HAS_CONTROLS.test(value);
  if (typeof value !== 'object' || value === null) return true;
  if (Array.isArray(value)) return value.every(isPrintable);
  // Without the arrays of `Object.entries`, as each event of a run comes here.
  for (const key in value) {
    if (!isPrintable(key) || !(VALUES.has(key) || isPrintable(value[key as keyof typeof value]))) return false;
  }
  return true;
}
