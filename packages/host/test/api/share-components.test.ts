import { expect, test } from 'vitest';
import { shareComponents } from '../../src/api/share-components.ts';

test('equal parts refer to one component, and keep their own description', () => {
  const size = { type: 'integer', minimum: 0 };
  const file = { type: 'object', properties: { size: { ...size, description: 'in bytes' } } };
  const document = { a: [file, { ...file, description: 'a file' }], b: { ...size, maximum: 5 }, c: size, d: null };
  expect(shareComponents(document, { File: { ...file, description: 'any file' }, Size: size })).toEqual({
    a: [{ $ref: '#/components/schemas/File' }, { $ref: '#/components/schemas/File', description: 'a file' }],
    b: { ...size, maximum: 5 },
    c: { $ref: '#/components/schemas/Size' },
    d: null,
  });
});
