import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { JSON_VALUES, type JsonType } from '../../src/json/json-values.ts';
import { schemaOf } from './printed-values.ts';

const SCHEMAS = fileURLToPath(new URL('../../schemas', import.meta.url));
const UPDATES = process.env.UPDATE_PAGES === '1';
const TYPES = Object.keys(JSON_VALUES) as JsonType[];

// UPDATE_PAGES=1 writes the schemas; review them.
test.each(TYPES)('the published JSON Schema of %s is current', (type) => {
  const file = join(SCHEMAS, `${type}.json`);
  const text = `${JSON.stringify(z.toJSONSchema(schemaOf(type), { io: 'input' }), null, 2)}\n`;
  if (UPDATES) writeFileSync(file, text);
  expect(existsSync(file), `write ${file} with UPDATE_PAGES=1`).toBe(true);
  expect(readFileSync(file, 'utf8')).toBe(text);
});

test('there is no published schema of a value that is not printed', () => {
  expect(readdirSync(SCHEMAS).sort()).toEqual(TYPES.map((type) => `${type}.json`).sort());
});
