/** Messages of the YAML library, and replacements that say how to correct the file. */
const WORDS: readonly (readonly [RegExp, string])[] = [
  [
    /^All mapping items must start at the same column/,
    'this key is indented differently from its siblings; start all keys of one map in the same column',
  ],
  [
    /^Missing , (?:or : )?between flow (?:sequence|map|mapping|collection) items/,
    'missing comma between two items in brackets; put a string that contains brackets, quotes or `: ` entirely in quotes',
  ],
  [/^Nested mappings are not allowed/, 'a string that contains `: ` is read as a map; put the whole string in quotes'],
  [/^Tabs are not allowed as indentation/, 'YAML does not allow tabs for indentation; use spaces'],
  [/^Missing closing (.).*quote/, 'missing closing quote $1'],
  [
    /^Implicit (?:map )?keys need to be (?:on a single line|followed by map values)/,
    'this line is not `key: value`; write a colon and a space after the key, and put a string that begins with a quote or bracket entirely in quotes',
  ],
  [/^Flow (?:sequence|map) in block collection must be.*end with a ([\]}])/, 'missing closing bracket `$1`'],
  [
    /^(?:Unexpected scalar at node end|Unexpected double-quoted-scalar|Unexpected single-quoted-scalar).*/,
    'unexpected text after the end of a value; put the whole value in quotes',
  ],
  [/^Plain value cannot start with (?:reserved character |a )?(\S+).*/, 'a string that begins with $1 needs quotes'],
  [/^Unresolved tag: (.*)/, 'unknown tag `$1`'],
  [
    /^(?:A block sequence may not be used as an implicit map key|Block collections are not allowed within flow collections)/,
    'a block list or map cannot start here; check the indentation',
  ],
];

/** One sentence without the parser's period and line hints, with a correction if one is known. */
export function describeYamlFault(message: string): string {
  const line = (message.split('\n')[0] ?? message).replace(/ at line \d+, column \d+:?$/, '').replace(/\.$/, '');
  for (const [pattern, words] of WORDS) {
    const found = pattern.exec(line);
    if (found !== null) return words.replace('$1', found[1] ?? '');
  }
  return line;
}
