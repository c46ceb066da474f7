import { describe, expect, it } from 'vitest';
import { pipelineJsonSchema } from '../../src/index.ts';
import { parseDuration } from '../../src/schema/duration.ts';
import { parseSize } from '../../src/schema/size.ts';

describe('pipelineJsonSchema', () => {
  it('pipelineJsonSchema is plain JSON Schema 2020-12 that knows every key and leaves x-* free', () => {
    const schema = pipelineJsonSchema() as Record<string, unknown>;
    expect(JSON.parse(JSON.stringify(schema))).toEqual(schema);
    expect(schema).toMatchObject({
      $schema: 'https://json-schema.org/draft/2020-12/schema',
      $id: 'urn:sluice:schema:pipeline',
      type: 'object',
      required: ['version', 'name'],
      additionalProperties: false,
      patternProperties: { '^x-': {} },
      properties: {
        version: { const: 1 },
        steps: {
          propertyNames: { pattern: '^[a-z0-9-]{1,100}$' },
          additionalProperties: { properties: { command: { anyOf: [{ type: 'array' }, { type: 'string' }] } } },
        },
      },
    });
  });
});

describe('parseDuration', () => {
  it('parseDuration gives milliseconds', () => {
    expect(['500ms', '90s', '15m', '2h', '1d', '1w', '1h30m', '0.5s'].map(parseDuration)).toEqual([
      500, 90_000, 900_000, 7_200_000, 86_400_000, 604_800_000, 5_400_000, 500,
    ]);
  });

  it('parseDuration ends at a hundred years, after which there are no dates', () => {
    const century = parseDuration('36500d');
    for (const text of ['99999999999d', `${'9'.repeat(400)}w`]) expect(parseDuration(text)).toBe(century);
    expect(() => new Date(Date.UTC(2100, 0) + century).toISOString()).not.toThrow();
  });
});

describe('parseSize', () => {
  it('parseSize gives bytes, decimal and binary', () => {
    expect(['1B', '512MB', '4GiB', '1.5KiB', '1KB', '2TB'].map(parseSize)).toEqual([
      1,
      512e6,
      4 * 2 ** 30,
      1536,
      1000,
      2e12,
    ]);
  });

  it('parseSize ends at what a number holds', () => {
    expect(parseSize(`${'9'.repeat(400)}TiB`)).toBe(Number.MAX_SAFE_INTEGER);
  });
});
