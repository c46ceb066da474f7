import { describe, expect, it } from 'vitest';
import { compileExpression } from '../../src/expressions/cel.ts';
import { toCel } from '../../src/expressions/cel-values.ts';
import { rewriteTemplates } from '../../src/expressions/rewrite-templates.ts';
import { splitTemplate } from '../../src/expressions/split-template.ts';
import { compileTemplate } from '../../src/expressions/template.ts';
import type { Json } from '../../src/index.ts';

function evaluate(template: string, context: Readonly<Record<string, Json>> = {}): Json | { error: string } {
  const compiled = compileTemplate(template);
  if (!compiled.ok) return { error: compiled.error.message };
  const values = Object.fromEntries(Object.entries(context).map(([name, value]) => [name, toCel(value)]));
  const result = compiled.value.evaluate(values);
  return result.ok ? result.value : { error: result.error };
}

function references(source: string): readonly string[] {
  const compiled = compileExpression(source);
  return compiled.ok
    ? compiled.value.references.map(({ root, keys }) => [root, ...keys].join('.'))
    : [compiled.error.message];
}

describe('splitTemplate', () => {
  it('splitTemplate ends an expression at its own braces, not at those of strings and maps', () => {
    const sources = (text: string) => {
      const split = splitTemplate(text);
      return split.ok
        ? split.value.map((part) => (part.kind === 'text' ? part.text : `<${part.source}>`))
        : split.error;
    };
    expect(sources('a ${{ b }} c')).toEqual(['a ', '<b>', ' c']);
    expect(sources("${{ {'a': {'b': 1}} }}")).toEqual(["<{'a': {'b': 1}}>"]);
    expect(sources('${{ \'}}\' + "}}" }}')).toEqual(['<\'}}\' + "}}">']);
    expect(sources('$${{ literal }}')).toEqual(['${{ literal }}']);
    expect(sources('x ${{ open')).toEqual({ start: 2 });
    expect(sources('')).toEqual(['']);
  });
});

describe('compileTemplate', () => {
  it('compileTemplate keeps the type of a whole expression, and makes text inside a text', () => {
    const context = { params: { n: 3, r: 2.5, s: 'x', l: [1, 'a'], m: { a: 1 }, z: null, t: true } };
    expect(evaluate('${{ params.n + 1 }}', context)).toBe(4);
    expect(evaluate(' ${{ params.n }}', context)).toBe(' 3');
    expect(evaluate('${{ params.l }}', context)).toEqual([1, 'a']);
    expect(evaluate('<${{ params.l }}|${{ params.m }}|${{ params.z }}|${{ params.t }}|${{ params.r }}>', context)).toBe(
      '<[1,"a"]|{"a":1}||true|2.5>',
    );
  });

  it('compileTemplate mixes integers and doubles in arithmetic', () => {
    expect(evaluate('${{ params.n * 0.5 + 1 }}', { params: { n: 3 } })).toBe(2.5);
    expect(evaluate('${{ 7 / 2 }}')).toBe(3);
  });

  it('compileTemplate gives reasons for what cannot be evaluated', () => {
    expect(evaluate('${{ 1 / 0 }}')).toEqual({ error: expect.stringContaining('zero') });
    expect(evaluate('${{ 9007199254740993 }}')).toEqual({ error: expect.stringContaining('too large') });
    expect(evaluate('${{ params.none }}', { params: {} })).toEqual({ error: '${{ params.none }}: no such key: none' });
    expect(evaluate("${{ b'x' }}")).toEqual({ error: expect.stringContaining('neither') });
  });

  it('compileTemplate never reaches the prototype', () => {
    for (const name of ['constructor', '__proto__', 'toString', 'hasOwnProperty']) {
      expect(evaluate(`\${{ params.${name} }}`, { params: { a: 1 } })).toHaveProperty('error');
      expect(evaluate(`\${{ params['${name}'] }}`, { params: { a: 1 } })).toHaveProperty('error');
    }
  });

  it('compileTemplate runs `matches` in linear time, whatever the pattern', () => {
    const context = { params: { text: `${'a'.repeat(5000)}!`, pattern: '(a+)+$' } };
    // A backtracking engine would not end.
    expect(evaluate('${{ params.text.matches(params.pattern) }}', context)).toBe(false);
    expect(evaluate("${{ params.text.matches('^(a|a)*$') }}", context)).toBe(false);
    expect(evaluate("${{ ['ab', 'c'].filter(x, x.matches('a.')) }}")).toEqual(['ab']);
    expect(evaluate("${{ matches('a', 'b') }}")).toEqual({ error: expect.stringContaining('method') });
    expect(evaluate("${{ 'a'.matches('(?=a)') }}")).toHaveProperty('error');
  });

  it('compileTemplate rejects expressions without bound', () => {
    expect(evaluate(`\${{ ${'('.repeat(1000)}1${')'.repeat(1000)} }}`)).toHaveProperty('error');
    expect(evaluate(`\${{ ${'1+'.repeat(20_000)}1 }}`)).toHaveProperty('error');
  });

  it('compileTemplate ends what would take minutes or all memory, and not what only is large', () => {
    const ten = '[0,1,2,3,4,5,6,7,8,9]';
    const nested = (method: string, body: string): string =>
      Array.from({ length: 9 }).reduce((inner: string, _, at) => `${ten}.${method}(v${at}, ${inner})`, body);
    const large = Array.from({ length: 100_000 }, (_, at) => at);
    const endless = [
      nested('map', '1'),
      nested('all', 'true'),
      `${nested('exists', 'false')} || true`,
      `[[1, 2]]${'.map(a, a + a)'.repeat(40)}`,
      `['ab']${'.map(a, a + a)'.repeat(40)}`,
      'params.large.filter(x, x in params.large)',
      `[[1]]${'.map(a, [a, a])'.repeat(40)}`,
    ];
    for (const source of endless) {
      const { error } = evaluate(`\${{ ${source} }}`, { params: { large } }) as { error?: string };
      expect(error, source.slice(0, 60)).toMatch(
        /it takes more than 2000000 iterations|it takes too long|more than 2000000 values/,
      );
    }
    expect(evaluate('${{ params.large.filter(x, x % 2 == 0).map(x, string(x)).size() }}', { params: { large } })).toBe(
      50_000,
    );
  });

  it('compileTemplate says which expression could not be evaluated', () => {
    const says = (text: string) => (evaluate(text, { params: { a: 0 } }) as { error?: string }).error;
    expect(says('${{ 1 / params.a }}')).toBe('${{ 1 / params.a }}: division by zero');
    expect(says('n=${{ params.b }}')).toBe('${{ params.b }}: no such key: b');
  });
});

describe('compileExpression', () => {
  it('compileExpression collects references, without variables of macros', () => {
    expect(references("steps['a-b'].results.x + params.n")).toEqual(['steps.a-b.results.x', 'params.n']);
    expect(references('params.xs.map(x, x + matrix.n)')).toEqual(['params.xs', 'matrix.n']);
    expect(references('params.xs.filter(item, item > 1) + [item]')).toEqual(['params.xs', 'item']);
    expect(references('params[matrix.key].x')).toEqual(['params', 'matrix.key']);
    expect(references('has(steps.a.results.x) ? attempt : 0')).toEqual(['steps.a.results.x', 'attempt']);
    expect(references('cel.bind(t, params.a, t + t)')).toEqual(['params.a']);
  });
});

describe('rewriteTemplates', () => {
  it('rewriteTemplates replaces references and leaves the rest of every text', () => {
    const rewritten = rewriteTemplates(
      { a: ['x ${{ params.n + params.n }} $${{ y }}', 1], b: "${{ steps['s'].status }}" },
      ({ root }) => (root === 'params' ? { source: '(7)', rest: [] } : undefined),
    );
    expect(rewritten).toEqual({ a: ['x ${{ (7) + (7) }} $${{ y }}', 1], b: "${{ steps['s'].status }}" });
  });
});
