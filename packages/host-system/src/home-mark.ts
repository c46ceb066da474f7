/** The file that Sluice writes into each home that it creates, and what it contains: the identity of the directory. */
export const HOME_MARK = 'made-here';

/** Whether a directory with this text in its `HOME_MARK` is a home or a copy of one. */
export function isHomeMark(text: string): boolean {
  return /^\d+-\d+\s*$/.test(text);
}
