import { describe, expect, test } from 'vitest';
import { parseIfHeader } from '../../../src/volumes/webdav/if-header.ts';

describe('parseIfHeader', () => {
  test('reads lists, tags, negations and entity tags', () => {
    expect(parseIfHeader('(<urn:a> ["e"]) (Not <DAV:no-lock>)')).toEqual([
      {
        tag: undefined,
        conditions: [
          { kind: 'token', token: 'urn:a', not: false },
          { kind: 'etag', etag: '"e"', not: false },
        ],
      },
      { tag: undefined, conditions: [{ kind: 'token', token: 'DAV:no-lock', not: true }] },
    ]);
    expect(parseIfHeader('</a> (<urn:a>) (<urn:b>) </b>(<urn:c>)')?.map(({ tag }) => tag)).toEqual(['/a', '/a', '/b']);
  });

  test.each([
    '',
    '()',
    '(',
    ')',
    '(<urn:a>',
    '<urn:a>',
    '(Not)',
    '(Not Not <urn:a>)',
    '((<urn:a>))',
    'x',
    '(<urn:a>) x',
  ])('rejects %j', (text) => {
    expect(parseIfHeader(text)).toBeUndefined();
  });
});
