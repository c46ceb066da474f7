import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { parsePipeline } from '../src/index.ts';

const PAGE = readFileSync(new URL('../../../docs/conventions.md', import.meta.url), 'utf8');
const FORMS = {
  'a step': (form: string) => `  b: { command: [x], ${form} }\n`,
  'an expression': (form: string) => `  b: { command: [x], when: "\${{ ${form} }}" }\n`,
  'the top level': (form: string) => `${form}\n`,
};
const ROWS = [...PAGE.matchAll(/^\| (a step|an expression|the top level) \| `([^`]+)` \| (.*) \|$/gm)];

it.each(ROWS.map(([, where, form, says]) => ({ where, form, says })))(
  'docs/conventions.md: $form is refused as the page says',
  ({ where, form, says }) => {
    const text = `version: 1\nname: old\nsteps:\n  a: { command: [x] }\n${FORMS[where as keyof typeof FORMS](form!)}`;
    const parsed = parsePipeline({ file: 'p.yaml', text });
    expect(parsed.ok ? [] : parsed.error.map(({ hint }) => hint)).toEqual([says]);
  },
);

it('docs/conventions.md has the rows that this test reads', () => {
  expect(ROWS.length).toBeGreaterThan(8);
});
