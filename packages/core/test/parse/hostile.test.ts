import { describe, expect, it } from 'vitest';
import { parsePipeline } from '../../src/index.ts';
import { readDocument } from '../../src/parse/read-document.ts';

function codes(text: string, file = 'p.yaml'): readonly string[] {
  const parsed = parsePipeline({ file, text });
  return parsed.ok ? [] : parsed.error.map(({ code }) => code);
}

/** Lists that hold the one before ten times: so many levels, of which the last stands for a power of ten. */
function tenfold(levels: number): string {
  const lists = Array.from({ length: levels }, (_, index) => {
    const item = index === 0 ? 'x' : `*l${index - 1}`;
    return `x-l${index}: &l${index} [${Array(10).fill(item).join(', ')}]`;
  });
  return lists.join('\n');
}

const HEAD = 'version: 1\nname: a\nsteps:\n  s:\n    command: [x]\n';

describe('readDocument', () => {
  it('readDocument rejects nesting of every kind, again and again, and lives', () => {
    const deep = 100_000;
    const hostile = [
      '['.repeat(deep),
      `${'['.repeat(deep)}${']'.repeat(deep)}`,
      '{a: '.repeat(deep),
      '{"a":'.repeat(deep),
      '- '.repeat(deep),
      '? '.repeat(deep),
      'a: [\n'.repeat(1000),
      '[ #]\n'.repeat(1000),
      "don't: [\n".repeat(1000),
      Array.from({ length: 1000 }, (_, index) => `${' '.repeat(index)}a:\n`).join(''),
      Array.from({ length: 1000 }, (_, index) => `${' '.repeat(index)}-\n`).join(''),
      `x: ${'!!seq '.repeat(2000)}[]`,
    ];
    for (const text of hostile) {
      for (let time = 0; time < 2; time++) {
        expect(codes(text).length, text.slice(0, 20)).toBeGreaterThan(0);
        expect(codes(text, 'p.json').length).toBeGreaterThan(0);
      }
    }
  });

  it('readDocument takes 60 levels and rejects 70', () => {
    const nested = (levels: number): string => `${'['.repeat(levels)}${']'.repeat(levels)}`;
    expect(readDocument('p.yaml', `a: ${nested(60)}`).ok).toBe(true);
    expect(readDocument('p.json', `{"a": ${nested(60)}}`).ok).toBe(true);
    expect(codes(`a: ${nested(70)}`)).toEqual(['too-deep']);
    expect(codes(`{"a": ${nested(70)}}`)).toEqual(['too-deep']);
  });

  it('readDocument bounds what aliases stand for', () => {
    expect(codes(`${tenfold(12)}\n${HEAD}`)).toEqual(['too-large']);
    expect(codes('a: &a [*a]')).toEqual(['alias']);
    expect(codes('a: &a {b: *a}')).toEqual(['alias']);
  });

  it('readDocument bounds what stands behind aliases more tightly than what a file writes out', () => {
    expect(codes(`${tenfold(6)}\nparams: { a: [*l5, *l5] }\n${HEAD}`)).toEqual(['too-large']);
  });

  it('readDocument lets a thousand steps share an anchor', () => {
    const steps = Array.from({ length: 1000 }, (_, index) => `  s${index}: { <<: *common, env: *env }`);
    const text = `version: 1\nname: a\nx-c: &common { command: [x] }\nx-e: &env { A: b }\nsteps:\n${steps.join('\n')}\n`;
    expect(codes(text)).toEqual([]);
  });

  it('readDocument rejects a file of more than 64 Mi characters unread', () => {
    expect(codes(' '.repeat(64 * 1024 * 1024 + 1))).toEqual(['too-large']);
  });

  it('readDocument rejects several documents, unknown tags and keys that are no text', () => {
    expect(codes('a: 1\n---\nb: 2\n')).toEqual(['several-documents']);
    expect(codes('a: !custom 1\n')).toEqual(['unknown-tag']);
    expect(codes('? [a]\n: 1\n')).toEqual(['bad-key']);
    expect(codes('a: .inf\n')).toEqual(['bad-number']);
    expect(codes('<<: 3\n')).toEqual(['bad-merge']);
  });

  it('readDocument places the second of two keys in JSON, and names the first', () => {
    const parsed = parsePipeline({ file: 'p.json', text: '{\n "version": 1,\n "name": "a",\n "name": "b"}' });
    expect(parsed.ok ? [] : parsed.error).toMatchObject([
      { code: 'duplicate-key', range: { line: 4, column: 2 }, related: [{ range: { line: 3, column: 2 } }] },
    ]);
  });

  it('readDocument reads YAML in braces as YAML, unless the file is named as JSON', () => {
    const text = '{version: 1, name: a, steps: {s: {command: [x]}}}';
    expect(codes(text)).toEqual([]);
    expect(codes(text, 'p.json')).toEqual(['syntax']);
  });
});

describe('parsePipeline of large files', () => {
  const many = Array.from({ length: 8000 }, (_, at) => at);

  it('parsePipeline tells thousands of faults, each of another kind', () => {
    const steps = many.map((at) => `  "s${at}": { command: [x], zzz: 1, needs: [t${at}] }\n`);
    expect(codes(`version: 1\nname: a\nsteps:\n${steps.join('')}`)).toHaveLength(16_000);
  });

  it('parsePipeline takes a step that needs thousands', () => {
    const steps = Object.fromEntries(many.map((at) => [`s${at}`, { command: ['x'] }]));
    const last = { command: ['x'], needs: Object.keys(steps) };
    expect(codes(JSON.stringify({ version: 1, name: 'a', steps: { ...steps, last } }), 'p.json')).toEqual([]);
  });

  it('parsePipeline finds what is wrong behind a text of millions of characters', () => {
    const text = `{"version": 1, "name": "a", "description": "${'x'.repeat(10_000_000)}", "zzz": 1, "steps": {}}`;
    expect(codes(text, 'p.json')).toEqual(['unknown-key', 'no-steps']);
  });
});

describe('parsePipeline with names of the prototype', () => {
  it('parsePipeline rejects `__proto__` as a name, in every way of writing it', () => {
    expect(codes(`${HEAD}  __proto__:\n    command: [x]\n`)).toEqual(['bad-name']);
    expect(codes('{"version":1,"name":"a","steps":{"s":{"command":["x"],"env":{"__proto__":"x"}}}}')).toEqual([
      'bad-name',
    ]);
    expect(codes('{"version":1,"name":"a","steps":{"s":{"command":["x"],"env":{"\\u005f_proto__":"x"}}}}')).toEqual([
      'bad-name',
    ]);
    expect(codes(`${HEAD}    env: { "\\x5f_proto__": x }\n`)).toEqual(['bad-name']);
    expect(({} as { command?: unknown }).command).toBeUndefined();
  });

  it('parsePipeline takes `constructor` and `toString` as names like others, and finds none where there is none', () => {
    expect(codes(`${HEAD}  constructor:\n    command: [x]\n    needs: [s]\n`)).toEqual([]);
    expect(codes(`${HEAD}    needs: [constructor]\n`)).toEqual(['unknown-step']);
    expect(codes(`${HEAD}    inputs: { a: s.constructor, b: volumes.constructor }\n`)).toContain('unknown-volume');
    expect(codes(`${HEAD}    pools: { constructor: 1 }\n`)).toEqual(['unknown-pool']);
    expect(codes(`${HEAD}    constructor: 1\n`)).toEqual(['unknown-key']);
    expect(codes(`${HEAD}    env: { A: "\${{ params.constructor }}" }\n`)).toEqual(['unknown-name']);
  });
});
