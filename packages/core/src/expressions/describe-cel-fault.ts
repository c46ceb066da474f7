/** The expression library's words, and what to say instead; `$1`, `$2`: what the pattern found. The first that fits counts. */
const WORDS: readonly (readonly [RegExp, string])[] = [
  [/^found no matching overload for 'len\(.*/, 'there is no function `len`; write size(value)'],
  [
    /^found no matching overload for '(contains|startsWith|endsWith|matches)\(.*/i,
    '`$1` is a method; write text.$1(part)',
  ],
  [/^found no matching overload for '(\w+)\((.*)\)'$/, 'there is no function `$1` for ($2)'],
  [
    /^no such overload: (\w+) ([^\w\s]+) (\w+)$/,
    '`$2` does not take $1 and $3; convert one of them, for example with string(…), int(…) or double(…)',
  ],
];

/** Operators of other languages; each is looked for only in an expression that could not be read. */
const FOREIGN_OPERATORS: readonly (readonly [RegExp, string])[] = [
  [/\band\b/, '`and` is no operator; write `&&`'],
  [/\bor\b/, '`or` is no operator; write `||`'],
  [/\bnot\b/, '`not` is no operator; write `!`'],
  [/[^=!<>]=[^=]/, '`=` is no operator; write `==` to compare'],
  [/(?<!&)&(?!&)/, '`&` is no operator; write `&&`'],
  [/(?<!\|)\|(?!\|)/, '`|` is no operator, and there are no filters; write `||`, or call a method'],
];

/** What is wrong with an expression, and what to write instead where that is known. */
export function describeCelFault(message: string, source: string): string {
  for (const [pattern, words] of WORDS) if (pattern.test(message)) return message.replace(pattern, words);
  if (!/^unexpected|^expected/.test(message)) return message;
  const plain = source.replace(/'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"/g, "''");
  return FOREIGN_OPERATORS.find(([pattern]) => pattern.test(plain))?.[1] ?? message;
}
