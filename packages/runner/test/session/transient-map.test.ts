import { describe, expect, test } from 'vitest';
import { createTransientMap } from '../../src/session/transient-map.ts';

describe('createTransientMap', () => {
  test('keeps the entries that were not deleted, in the order in which their keys were added', () => {
    const map = createTransientMap<number>();
    for (const [index, key] of ['b', 'a', 'c'].entries()) map.set(key, index);
    map.set('b', 7);
    map.delete('a');
    map.delete('unknown');
    expect(map.size).toBe(2);
    expect(map.keys()).toEqual(['b', 'c']);
    expect(map.values()).toEqual([7, 2]);
    expect([map.get('b'), map.get('a')]).toEqual([7, undefined]);
    map.set('a', 1);
    expect(map.keys()).toEqual(['b', 'c', 'a']);
  });

  test('takes any key', () => {
    const map = createTransientMap<string>();
    for (const key of ['__proto__', 'constructor', '']) {
      expect(map.get(key)).toBeUndefined();
      map.set(key, key);
    }
    expect(map.keys()).toEqual(['__proto__', 'constructor', '']);
    map.delete('__proto__');
    expect(map.size).toBe(2);
  });
});
