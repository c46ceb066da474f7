import { spawnSync } from 'node:child_process';
import { expect, test } from 'vitest';
import { packTar } from '../../src/bundle/pack-tar.ts';

test.each([0, 1, 511, 512, 513, 100_000])('tar reads a file of %i bytes, and the next one', (size) => {
  const files = [
    { name: 'run/first', bytes: Buffer.alloc(size, 'é') },
    { name: 'second', bytes: Buffer.from('two') },
  ];
  const archive = packTar(files, 1_700_000_000_000);
  for (const { name, bytes } of files) {
    const { stdout, status } = spawnSync('tar', ['-xOf', '-', name], { input: archive });
    expect(status).toBe(0);
    expect(stdout.equals(bytes)).toBe(true);
  }
});

test('a name that does not fit is rejected', () => {
  expect(() => packTar([{ name: 'n'.repeat(101), bytes: Buffer.alloc(0) }], 0)).toThrow(RangeError);
});
