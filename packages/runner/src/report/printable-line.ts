const ESCAPE = String.fromCharCode(27);
const CSI = `(?:${ESCAPE}\\[|\\u009b)[0-?]*[ -/]*[@-~]`;
/** Titles, links and the other strings, up to their end. */
const STRING = `${ESCAPE}[\\]PX^_][^\\u0007${ESCAPE}]*(?:\\u0007|${ESCAPE}\\\\)?`;
const PAIR = `${ESCAPE}[ -/]*[0-~]`;
const SEQUENCES = new RegExp(`${CSI}|${STRING}|${PAIR}`, 'g');
/** Other control characters, and those that turn the direction of text around. */
const CONTROLS = /[\p{Cc}\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu;

/**
 * A line of a log that cannot move the cursor, set colours or titles, or hide what it says. Of a progress line that
 * was drawn over itself with carriage returns, the last drawing.
 */
export function printableLine(line: string): string {
  const plain = line.replace(SEQUENCES, '');
  const drawn = plain.replace(/\r+$/, '');
  const shown = drawn.slice(drawn.lastIndexOf('\r') + 1);
  return shown.replaceAll('\t', '    ').replace(CONTROLS, '');
}
