/**
 * Messages of the expression library, and their replacements; `$1`, `$2` are groups of the pattern. The first match
 * applies.
 */
const WORDS: readonly (readonly [RegExp, string])[] = [
  [/^found no matching overload for 'len\(.*/, 'unknown function `len`; write size(value)'],
  [
    /^found no matching overload for '(contains|startsWith|endsWith|matches)\(.*/i,
    '`$1` is a method; write text.$1(part)',
  ],
  [/^found no matching overload for '(\w+)\((.*)\)'$/, 'no function `$1` takes ($2)'],
  [
    /^no such overload: (\w+) ([^\w\s]+) (\w+)$/,
    '`$2` cannot be applied to $1 and $3; convert one of them, for example with string(…), int(…) or double(…)',
  ],
];

/** Operators of other languages; searched only in expressions that could not be parsed. */
const FOREIGN_OPERATORS: readonly (readonly [RegExp, string])[] = [
  [/\band\b/, '`and` is not an operator; write `&&`'],
  [/\bor\b/, '`or` is not an operator; write `||`'],
  [/\bnot\b/, '`not` is not an operator; write `!`'],
  [/[^=!<>]=[^=]/, '`=` is not an operator; write `==` to compare'],
  [/(?<!&)&(?!&)/, '`&` is not an operator; write `&&`'],
  [/(?<!\|)\|(?!\|)/, '`|` is not an operator, and there are no filters; write `||`, or call a method'],
];

/** The message for an error in an expression, with a correction if one is known. */
export function describeCelFault(message: string, source: string): string {
  for (const [pattern, words] of WORDS) if (pattern.test(message)) return message.replace(pattern, words);
  if (!/^unexpected|^expected/.test(message)) return message;
  const plain = source.replace(/'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"/g, "''");
  const operator = FOREIGN_OPERATORS.find(([pattern]) => pattern.test(plain))?.[1];
  return operator ?? (message.startsWith('expected RPAREN') ? 'a closing `)` is missing' : message);
}
