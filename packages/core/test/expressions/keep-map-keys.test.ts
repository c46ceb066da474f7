import { describe, expect, it } from 'vitest';
import { compileTemplate } from '../../src/expressions/template.ts';

function evaluate(text: string): unknown {
  const compiled = compileTemplate(text);
  const value = compiled.ok ? compiled.value.evaluate({ item: new Map([['constructor', 'c']]) }) : compiled;
  return value.ok ? JSON.stringify(value.value) : value.error;
}

describe('keepMapKeys', () => {
  it.each([
    [
      "{'constructor': 1, 'prototype': 2, '__proto__': {'a': 3}, 'b': 4}",
      '{"constructor":1,"prototype":2,"__proto__":{"a":3},"b":4}',
    ],
    ["['constructor', 'toString'].map(k, {k: 1})", '[{"constructor":1},{"toString":1}]'],
    ["{'constructor': 1}.constructor + {'constructor': 1}['constructor']", '2'],
    ["[{'a': 1}].map(m, has(m.constructor) || 'constructor' in m)", '[false]'],
    ["{'constructor': 1} == {'constructor': 1} && {'constructor': 1} != {'constructor': 2}", 'true'],
    ['item.constructor', '"c"'],
    ['{}', '{}'],
    ["{1: 'a', true: 'b'}[1]", '"a"'],
  ])('keepMapKeys keeps the keys of a map literal, whatever they are: %s', (source, value) => {
    expect(evaluate(`\${{ ${source} }}`)).toBe(value);
  });
});
