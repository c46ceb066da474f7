import { expect, test } from 'vitest';
import { markHidden, visibleLine } from '../../src/log/visible-line.ts';

test.each<[line: string, text: string, style: string, overwritten: number]>([
  ['plain', 'plain', '', 0],
  ['of Windows\r', 'of Windows', '', 0],
  ['10%\r50%\r100%', '100%', '', 2],
  ['10%\r50%\r', '50%', '', 1],
  ['\r', '', '', 0],
  // A color that was not reset continues.
  ['\u001b[31m10%\r100%', '100%', '\u001b[31m', 1],
  ['\u001b[31m10%\u001b[0m\r100%', '100%', '', 1],
])('visibleLine shows what a terminal shows in the end of %j', (line, text, style, overwritten) => {
  expect(visibleLine('', line)).toEqual({ text, style, overwritten });
});

test('markHidden shows what changes the order of text or is not seen, and keeps the rest', () => {
  expect(markHidden('a\u202eb\u2066c\u200bd\u0007')).toBe('a⟨U+202E⟩b⟨U+2066⟩c⟨U+200B⟩d⟨U+0007⟩');
  const kept = 'tab\tescape\u001b[1m é 日本 \u{1f600}';
  expect(markHidden(kept)).toBe(kept);
});
