const ESCAPE = String.fromCharCode(27);
const CSI = `(?:${ESCAPE}\\[|\\u009b)[0-?]*[ -/]*[@-~]`;
/** Titles, links and other strings, including their terminator. */
const STRING = `${ESCAPE}[\\]PX^_][^\\u0007${ESCAPE}]*(?:\\u0007|${ESCAPE}\\\\)?`;
const PAIR = `${ESCAPE}[ -/]*[0-~]`;
const SEQUENCES = new RegExp(`${CSI}|${STRING}|${PAIR}`, 'g');
/** Other control characters, those that change the direction of text, and what no XML document may contain. */
const CONTROLS = /[\p{Cc}\u200e\u200f\u202a-\u202e\u2066-\u2069\ufffe\uffff]/gu;

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
