import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { runCommandLine } from '../../src/command-line/run-command-line.ts';
import { createTestContext } from '../recording-terminal.ts';

const page = readFileSync(new URL('../../../../docs/conventions.md', import.meta.url), 'utf8');
const [, table = ''] = /\| old form \| new form \|\n\| *-+ *\| *-+ *\|\n((?:\|.*\n)+)/.exec(page) ?? [];
const rows = [...table.matchAll(/^\| `([^`]+)` \| `([^`]+)` \|$/gm)].map(([, old, now]) => [old!, now!] as const);

test('docs/conventions.md lists the old forms of commands', () => {
  expect(rows.length).toBeGreaterThan(10);
  expect(rows).toHaveLength(table.trim().split('\n').length);
});

test.each(rows)('`sluice %s` is refused and names `sluice %s`', async (old, now) => {
  const context = createTestContext({ cwd: '/' });
  expect(await runCommandLine(old.split(' '), context)).toBe(2);
  expect(context.terminal.written().err).toContain(`\`sluice ${old}\` is now \`sluice ${now}\`\n`);
});
