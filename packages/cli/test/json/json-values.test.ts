import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { PUBLISHED_SCHEMAS } from './published-schemas.ts';

const SCHEMAS = fileURLToPath(new URL('../../schemas', import.meta.url));
const UPDATES = process.env.UPDATE_PAGES === '1';

// UPDATE_PAGES=1 writes the schemas; review them.
test.each([...PUBLISHED_SCHEMAS])('the published JSON Schema of %s is current', (name, create) => {
  const file = join(SCHEMAS, `${name}.json`);
  const text = `${JSON.stringify(create(), null, 2)}\n`;
  if (UPDATES) writeFileSync(file, text);
  expect(existsSync(file), `write ${file} with UPDATE_PAGES=1`).toBe(true);
  expect(readFileSync(file, 'utf8')).toBe(text);
});

test('there is no published schema of anything else', () => {
  expect(readdirSync(SCHEMAS).sort()).toEqual([...PUBLISHED_SCHEMAS.keys()].map((name) => `${name}.json`).sort());
});
