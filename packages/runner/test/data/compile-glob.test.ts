import fc from 'fast-check';
import picomatch from 'picomatch';
import { describe, expect, test } from 'vitest';
import { compileGlob } from '../../src/data/compile-glob.ts';

/** Its shortcut for `*.*` wants a character behind the dot, other than its rule. */
const OPTIONS = { noextglob: true, nonegate: true, fastpaths: false };

const matches = (pattern: string, file: string) => compileGlob(pattern).match(file).isMatch;

const join = (separator: string) => (parts: readonly string[]) => parts.join(separator);
const between = (min: number, max: number) => ({ minLength: min, maxLength: max });
const simple = ['a', 'b', '?', '[a-b]', '[^a]', '*'];
const choice = fc
  .array(fc.array(fc.constantFrom(...simple), between(1, 2)).map(join('')), between(2, 3))
  .map((parts) => `{${parts.join(',')}}`);
const piece = fc.oneof({ weight: 5, arbitrary: fc.constantFrom(...simple, '.', '[.a]') }, choice);
/** Only a whole name is `**`. As a part of one, the library lets it match slashes in some places. */
const isUndocumented = (name: string) => name.includes('**');
const names = fc
  .array(piece, between(1, 4))
  .map(join(''))
  .filter((name) => !isUndocumented(name));
// Behind two stars, the library takes no name at all for a name that may be one star: `a/**/{b,*}` matches `a`.
const mayBeNothing = (glob: string) => /\*\*\/\{[^/]*\*/.test(glob);
const pattern = fc
  .array(fc.oneof({ weight: 3, arbitrary: names }, fc.constant('**')), between(1, 4))
  .map(join('/'))
  .filter((glob) => !mayBeNothing(glob));
const file = fc
  .array(
    fc.string({ unit: fc.constantFrom('a', 'b', '.'), ...between(1, 4) }).filter((name) => !/^\.+$/.test(name)),
    between(1, 4),
  )
  .map(join('/'));

describe('compileGlob', () => {
  test('matches what a library that tries one possibility after the other matches', () => {
    fc.assert(
      fc.property(pattern, file, (glob, path) => {
        expect(matches(glob, path)).toBe(picomatch.isMatch(path, glob, OPTIONS));
      }),
      { numRuns: process.env.SLUICE_SOAK === 'true' ? 20_000 : 2000 },
    );
  });

  test.each([
    ['**/{a,b}.txt', 'x/y/b.txt'],
    ['{**/a,b}', 'a'],
    ['{a,{b,c}}', 'c'],
    ['./a', 'a'],
    ['a\\*b', 'a*b'],
    ['a{b', 'a{b'],
    ['{a}', '{a}'],
    ['[a', '[a'],
    ['[]a]', ']'],
    ['a+(b)', 'a+(b)'],
    ['[ab]', '[ab]'],
    ['?.txt', '😀.txt'],
  ])('%s matches %s', (glob, path) => {
    expect(matches(glob, path)).toBe(true);
  });

  test.each([
    ['*', '.a'],
    ['*', 'a/b'],
    ['**/a', '.x/a'],
    ['a\\*b', 'axb'],
    ['[/]', '/'],
    ['a[^b]c', 'a/c'],
    ['{a}', 'a'],
    ['a/**/{b,*}', 'a'],
  ])('%s does not match %s', (glob, path) => {
    expect(matches(glob, path)).toBe(false);
  });

  test.each([
    `${'*a'.repeat(100)}b`,
    `${'*a'.repeat(7)}*b`,
    `${'**/'.repeat(66)}b`,
    `${'{a,aa}'.repeat(33)}b`,
    `${'{'.repeat(60)}a${',a}'.repeat(60)}`,
    `${'{*,?}'.repeat(40)}b`,
  ])('takes at most as many steps as the product of both lengths for %s', (glob) => {
    for (const path of ['a'.repeat(4000), 'a/'.repeat(2000).slice(0, -1)]) {
      const { isMatch, steps } = compileGlob(glob).match(path);
      expect(isMatch).toBe(false);
      expect(steps).toBeLessThan(4 * glob.length * path.length);
    }
  });
});
