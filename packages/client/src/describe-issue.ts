const KINDS: ReadonlyMap<string, string> = new Map([
  ['string', 'a text'],
  ['number', 'a number'],
  ['int', 'a whole number'],
  ['boolean', 'true or false'],
  ['array', 'a list'],
  ['object', 'a map'],
  ['record', 'a map'],
]);

/**
 * Converts a message of the schema library about one setting to plain words; continues a sentence that begins with the
 * setting.
 */
export function describeIssue(message: string): string {
  if (message === 'Invalid URL') return 'must be an address, such as https://host.example';
  const bound = /^Too (small|big): expected (\w+) to (be|have) [<>]=?(\S+)( \w+)?$/.exec(message);
  if (bound !== null) {
    const [, side, , verb, limit, unit = ''] = bound;
    return `must ${verb} ${side === 'small' ? 'at least' : 'at most'} ${limit}${unit}`;
  }
  const found = /^Invalid input: expected (\w+), received (\w+)$/.exec(message);
  if (found === null) return message;
  const [, expected = '', received = ''] = found;
  const wanted = KINDS.get(expected) ?? expected;
  return received === 'undefined'
    ? `is missing; it must be ${wanted}`
    : `must be ${wanted}, and is ${KINDS.get(received) ?? received}`;
}
