/** A line without ANSI sequences, which would otherwise be part of the first word: `ESC[31mError`. */
export function withoutStyles(line: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: ESC begins every sequence
  return line.includes('\u001b') ? line.replace(/\u001b\[[\d;:]*[A-Za-z]/g, '') : line;
}
