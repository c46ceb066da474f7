import { expect, test } from 'vitest';
import { styleAfter } from '../../src/log/style-after.ts';

const ESCAPE = '\u001b';
const sgr = (codes: string) => `${ESCAPE}[${codes}m`;

test.each([
  ['a line without sequences keeps it', sgr('31'), 'plain', sgr('31')],
  ['a color continues', '', `${sgr('31')}red`, sgr('31')],
  ['a reset ends all', sgr('1;31'), `text${sgr('0')}`, ''],
  ['an empty sequence is a reset', sgr('31'), `text${sgr('')}`, ''],
  ['another color replaces the first', sgr('31'), `${sgr('92')}green`, sgr('92')],
  ['the default color ends only the color', sgr('1;31'), `text${sgr('39')}`, sgr('1')],
  ['normal weight ends bold and faint', sgr('1'), `${sgr('2')}text${sgr('22')}`, ''],
  ['a reset in the middle of a sequence', sgr('31'), sgr('4;0;42'), sgr('42')],
  ['a color of 256', '', sgr('38;5;208'), sgr('38;5;208')],
  ['a color of 24 bits beside bold', '', sgr('48;2;1;0;3;1'), sgr('48;2;1;0;3;1')],
  ['a sequence that is cut off', '', sgr('38'), ''],
  ['sequences that are not colors', sgr('31'), `${ESCAPE}[2K${ESCAPE}[1A`, sgr('31')],
])('styleAfter: %s', (_what, style, line, after) => {
  expect(styleAfter(style, line)).toBe(after);
});

test('styleAfter does not grow with the number of sequences', () => {
  let style = '';
  for (let line = 0; line < 1_000; line++)
    style = styleAfter(style, `${sgr(`38;5;${line % 256}`)}${sgr('1')}x${sgr('22')}`);
  expect(style).toBe(sgr('38;5;231'));
});
