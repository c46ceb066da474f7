import { spawnSync } from 'node:child_process';
import { expect, test } from 'vitest';
import { shellQuote } from '../../src/engines/shell-quote.ts';

test('shellQuote keeps every byte through a real sh', () => {
  const ascii = Array.from({ length: 127 }, (_, i) => String.fromCharCode(i + 1)).join('');
  const text = `${ascii}''ж$(id)\`id\`\n\n`;
  const { stdout } = spawnSync('sh', ['-c', `printf %s ${shellQuote(text)}`], { encoding: 'utf8' });
  expect(stdout).toBe(text);
});

test('shellQuote rejects a NUL character, which no argument can hold', () => {
  expect(() => shellQuote('a\0b')).toThrow(/NUL/);
});
