import { describe, expect, it } from 'vitest';
import { parseDuration } from '../../src/schema/duration.ts';
import { parseSize } from '../../src/schema/size.ts';

describe('parseDuration', () => {
  it('parseDuration adds up its parts, and ends at a hundred years', () => {
    expect(parseDuration('1h30m')).toBe(5_400_000);
    const century = parseDuration('36500d');
    for (const text of ['99999999999d', `${'9'.repeat(400)}w`]) expect(parseDuration(text)).toBe(century);
    expect(() => new Date(Date.UTC(2100, 0) + century).toISOString()).not.toThrow();
  });
});

describe('parseSize', () => {
  it('parseSize tells powers of ten and of two apart, and ends at what a number holds', () => {
    expect(parseSize('512MB')).toBe(512e6);
    expect(parseSize('4GiB')).toBe(4 * 2 ** 30);
    expect(parseSize(`${'9'.repeat(400)}TiB`)).toBe(Number.MAX_SAFE_INTEGER);
  });
});
