import { describe, expect, it } from 'vitest';
import { checkImageName, checkPodmanImage } from '../../src/engines/image-name.ts';

const DIGEST = `sha256:${'a1'.repeat(32)}`;
const GOOD = [
  ...['busybox', 'node:20', 'python:3.12-slim', 'library/node', 'registry.example.org/team/name:tag', 'a__b/c-d.e--f'],
  ...[
    'localhost:5000/x',
    'localhost/x:y',
    'REGISTRY.example/x',
    `x@${DIGEST}`,
    `r.io:443/x/y:z@${DIGEST}`,
    'a1b2c3d4e5f6',
  ],
  ...[DIGEST, `x:${'t'.repeat(128)}`],
];
const BAD = [
  ...[
    '',
    'Busybox',
    'a/B',
    'a b',
    'a:',
    ':a',
    'a:b:c',
    'a@b',
    'a@sha256:12',
    '../x',
    'a/../b',
    '/a',
    'a/',
    'a//b',
    'a..b',
  ],
  ...[
    '-a',
    'a-',
    '_a',
    'a:-b',
    `a:${'t'.repeat(129)}`,
    'http://a/b',
    'a?b',
    'a%2fb',
    'a\nb',
    'a#b',
    '\u0430',
    `x@${DIGEST}:y`,
  ],
];

describe('checkImageName', () => {
  it.each(GOOD)('accepts %s', (image) => expect(() => checkImageName(image)).not.toThrow());

  it.each(BAD)('rejects %j', (image) =>
    expect(() => checkImageName(image)).toThrow(expect.objectContaining({ code: 'REJECTED' })),
  );

  it('judges the longest that a request can have at once, whatever it repeats', () => {
    for (const part of ['a', 'a-', 'a.', 'a/', 'A', 'a:', '-', '_', 'a.b']) {
      expect(() => checkImageName(`${part.repeat(1024).slice(0, 1023)}!`)).toThrow();
    }
  });
});

describe('checkPodmanImage', () => {
  it('accepts transports beside names', () => {
    for (const image of [...GOOD, 'docker-archive:/images/x.tar', 'docker://quay.io/a/b', 'dir:/x'])
      checkPodmanImage(image);
    expect(() => checkPodmanImage('Busybox')).toThrow();
  });
});
