/** The most patterns of a list or file. */
export const MAX_PATTERNS = 1_000;

const MAX_LENGTH = 1_000;
/** Matching takes time that grows with the length of the path to the power of this number. */
const MAX_DOUBLE_STARS = 3;

/**
 * Why a pattern that excludes files has no effect or is not accepted, as the end of a sentence. The syntax is that of
 * gitignore, which accepts such patterns and ignores them.
 */
export function findPatternFault(pattern: string): string | undefined {
  if (pattern.length > MAX_LENGTH) return `it is longer than ${MAX_LENGTH} characters`;
  if (/[\n\r\0]/.test(pattern)) return 'it has a line break or a NUL; write one pattern in each entry';
  if (pattern.startsWith('#')) return 'it is a comment; if a name begins with `#`, write `\\#`';
  // Spaces at the end do not count, except after a backslash.
  const path = pattern.replace(/^!/, '').replace(/(?<!\\) +$/, '');
  if (/^\/*$/.test(path)) return 'it names nothing';
  const parts = path.split('/');
  if (parts.includes('.') || parts.includes('..')) {
    return 'it has a part `.` or `..`; patterns are relative to the source, for example `/build`';
  }
  if (/(?<!\\)(?:\\\\)*\\\/?$/.test(path)) return 'it ends with `\\`, which must precede a character';
  if (hasOpenBracket(path)) return 'its `[` has no `]`; if the name has a bracket, write `\\[`';
  const stars = parts.filter((part) => /^\*{2,}$/.test(part)).length;
  return stars > MAX_DOUBLE_STARS ? `it has more than ${MAX_DOUBLE_STARS} parts \`**\`` : undefined;
}

/** Whether a bracket is not closed; `]` is a member of the set if it comes first. */
function hasOpenBracket(path: string): boolean {
  return /\[/.test(path.replace(/\\.|\[[!^]?(?:\\.|[^\\])(?:\\.|\[:\w+:\]|[^\]\\])*\]/gs, ''));
}
