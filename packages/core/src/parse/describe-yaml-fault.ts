/** The words of the YAML library, and what they mean for who wrote the file. */
const WORDS: readonly (readonly [RegExp, string])[] = [
  [
    /^All mapping items must start at the same column/,
    'this key is indented differently from those beside it; begin all keys of one map in the same column',
  ],
  [
    /^Missing , (?:or : )?between flow (?:sequence|map|mapping|collection) items/,
    'a comma is missing between two items in brackets; a text that holds brackets, quotes or `: ` needs quotes around all of it',
  ],
  [/^Nested mappings are not allowed/, 'a text with `: ` in it reads as a map; put the whole text in quotes'],
  [/^Tabs are not allowed as indentation/, 'YAML cannot be indented with tabs; use blanks'],
  [/^Missing closing (.).*quote/, 'a text in quotes has no closing $1'],
  [
    /^Implicit (?:map )?keys need to be (?:on a single line|followed by map values)/,
    'this line is no `key: value`; write a colon and a blank after the key, and put a text that begins with quotes or brackets in quotes as a whole',
  ],
  [/^Flow (?:sequence|map) in block collection must be.*end with a ([\]}])/, 'a bracket has no `$1` that closes it'],
  [
    /^(?:Unexpected scalar at node end|Unexpected double-quoted-scalar|Unexpected single-quoted-scalar).*/,
    'there is text behind the end of a value; put the whole value in quotes',
  ],
  [/^Plain value cannot start with (?:reserved character |a )?(\S+).*/, 'a text that begins with $1 needs quotes'],
  [
    /^(?:A block sequence may not be used as an implicit map key|Block collections are not allowed within flow collections)/,
    'a list or a map of lines cannot begin here; check the indentation',
  ],
];

/** One sentence without the parser's full stop and line hints; what to do instead, where that is known. */
export function describeYamlFault(message: string): string {
  const line = (message.split('\n')[0] ?? message).replace(/ at line \d+, column \d+:?$/, '').replace(/\.$/, '');
  for (const [pattern, words] of WORDS) {
    const found = pattern.exec(line);
    if (found !== null) return words.replace('$1', found[1] ?? '');
  }
  return line;
}
