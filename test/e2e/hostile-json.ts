import fc from 'fast-check';

type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };

/** Values that a careless program confuses with others, as JSON text. */
const VALUES = [
  ...['null', 'true', '[]', '{}', '""', '0', '-1', '0.5', '1e300', '-1e300', '1e999', '9007199254740993'],
  ...['"__proto__"', '"constructor"', '"../../x"', '"/etc/passwd"', '"\\u0000"', '"\\ud800"', '" "', '[null]'],
  ...['{"__proto__":{"polluted":1}}', '{"constructor":{"prototype":{"polluted":1}}}', '{"length":1000000000}'],
  ...['{"toString":null}', '{"then":1}', '2147483648', '1e15', '253402300800000'],
];
/** Keys that exist on every object, or that no schema knows. */
const KEYS = ['__proto__', 'constructor', 'prototype', 'hasOwnProperty', 'toString', 'toJSON', 'then', 'unknown', ''];
/** Sizes, also as JSON text. */
const LARGE = [
  () => JSON.stringify('x'.repeat(300_000)),
  () => `[${'0,'.repeat(20_000)}0]`,
  () => `${'['.repeat(5000)}${']'.repeat(5000)}`,
  () => `{${Array.from({ length: 12_000 }, (_, at) => `"k${at}":1`).join()}}`,
];

/** One change to a document. `at` chooses the value, whatever the size of the document. */
const change = fc.record({
  at: fc.nat(),
  kind: fc.constantFrom('replace', 'replace', 'replace', 'enlarge', 'add', 'rename', 'remove', 'repeat'),
  value: fc.constantFrom(...VALUES),
  key: fc.constantFrom(...KEYS),
  large: fc.nat({ max: LARGE.length - 1 }),
});

type Change = typeof change extends fc.Arbitrary<infer T> ? T : never;

/**
 * Documents that differ from a valid one in one to three places, as JSON text: so they can have keys and numbers that no value
 * of JavaScript has. Works for any schema, since it knows only the valid document.
 */
export const hostileChanges: fc.Arbitrary<readonly Change[]> = fc.array(change, { minLength: 1, maxLength: 3 });

/** Applies changes to a document. Changes to a part that an earlier change has replaced have no effect. */
export function renderHostile(document: unknown, changes: readonly Change[]): string {
  const places = countPlaces(document as Json);
  const byPlace = new Map(changes.map((one) => [one.at % places, one]));
  let place = 0;
  const render = (value: Json): string => {
    const found = byPlace.get(place++);
    if (found?.kind === 'replace') return skip(value, found.value);
    if (found?.kind === 'enlarge') return skip(value, LARGE[found.large]!());
    if (typeof value !== 'object' || value === null) return JSON.stringify(value);
    if (Array.isArray(value)) return `[${changeList(value.map(render), found).join()}]`;
    const entries = Object.entries(value).map(([key, one]) => [key, render(one)] as const);
    return `{${changeEntries(entries, found)
      .map(([key, text]) => `${JSON.stringify(key)}:${text}`)
      .join()}}`;
  };
  const skip = (value: Json, text: string) => {
    place += countPlaces(value) - 1;
    return text;
  };
  return render(document as Json);
}

function changeList(items: readonly string[], found: Change | undefined): readonly string[] {
  if (found?.kind === 'add') return [...items, found.value];
  if (found?.kind === 'remove' || found?.kind === 'rename') return items.slice(1);
  return found?.kind === 'repeat' ? [...items, ...items] : items;
}

function changeEntries(
  entries: readonly (readonly [string, string])[],
  found: Change | undefined,
): readonly (readonly [string, string])[] {
  const [first = ['x', '1'] as const, ...rest] = entries;
  if (found?.kind === 'add') return [...entries, [found.key, found.value]];
  if (found?.kind === 'rename') return [[found.key, first[1]], ...rest];
  if (found?.kind === 'remove') return rest;
  return found?.kind === 'repeat' ? [...entries, first] : entries;
}

function countPlaces(value: Json): number {
  if (typeof value !== 'object' || value === null) return 1;
  return 1 + Object.values(value).reduce((sum: number, one) => sum + countPlaces(one as Json), 0);
}
