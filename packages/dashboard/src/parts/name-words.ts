/** A name or path of a file, or a text with such names: bytes that are not UTF-8 as `\xff`, as commands print them. */
export function nameWords(name: string): string {
  return name.replace(/\p{Surrogate}/gu, (char) => `\\x${(char.charCodeAt(0) & 0xff).toString(16)}`);
}

/** Why there is no link to such a file. */
export const NOT_LINKABLE = 'The name is not UTF-8: get the file with sluice pull';
