import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { compile } from './compile.ts';

const DIRECTORY = fileURLToPath(new URL('./type-errors', import.meta.url));
const GOLDEN = join(DIRECTORY, 'messages.txt');

test('mistakes in programs are errors of the compiler, with messages that name the mistake', () => {
  const names = readdirSync(DIRECTORY).filter((name) => name.endsWith('.ts.txt'));
  const programs = names.map((name) => [
    name.replace('.txt', ''),
    `import { pipeline, run } from 'sluice';\n${readFileSync(join(DIRECTORY, name), 'utf8')}`,
  ]);
  const messages = `${compile(Object.fromEntries(programs))}\n`;
  if (process.env.UPDATE_TESTDATA) writeFileSync(GOLDEN, messages);
  expect(messages).toBe(readFileSync(GOLDEN, 'utf8'));
  for (const name of names) expect(messages).toContain(`${name.replace('.txt', '')}(`);
});
