import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { Environment } from '@marcbachmann/cel-js';
import { describe, expect, it } from 'vitest';
import { limitEvaluation } from '../../src/expressions/evaluation-budget.ts';

const main = createRequire(import.meta.url).resolve('@marcbachmann/cel-js');
const { version } = JSON.parse(readFileSync(new URL('../package.json', `file://${main}`), 'utf8')) as {
  version: string;
};

function compile(source: string): { readonly budget: ReturnType<typeof limitEvaluation>; readonly run: () => unknown } {
  const program = new Environment({ unlistedVariablesAreDyn: true }).parse(source);
  return { budget: limitEvaluation(program.ast), run: () => program({}) };
}

describe('limitEvaluation', () => {
  it('uses a private method of the library, as version 8.0.0 has it', () => {
    // For another version, check that `evaluate` of a node is still called for each evaluation and replaced by
    // assignment only (`evaluation-budget.ts`), run the tests of this folder, and change the version here.
    expect(version).toBe('8.0.0');
  });

  it('has no budget for an expression without loops', () => {
    expect(compile('1 + size([1, 2])').budget).toBeUndefined();
  });

  it('counts every turn of a loop, in the first evaluation and in the following ones', () => {
    const turns = (count: number): string => `[${Array(count).fill('1').join(',')}]`;
    const source = `${turns(200)}.all(a, ${turns(100)}.all(b, ${turns(100)}.all(c, true)))`;
    const { budget, run } = compile(source);
    for (let time = 0; time < 2; time++) {
      budget!.reset();
      expect(run).toThrow('it takes more than 2000000 iterations');
      expect(budget!.finish(true)).toBe('it takes more than 2000000 iterations');
    }
  });

  it('gives each evaluation the complete budget', () => {
    const { budget, run } = compile('[1, 2, 3].map(a, a + 1)');
    for (let time = 0; time < 3; time++) {
      budget!.reset();
      expect(run()).toEqual([2n, 3n, 4n]);
      expect(budget!.finish([])).toBeUndefined();
    }
  });

  it('rejects a tree whose nodes it cannot observe', () => {
    const { ast } = new Environment({ unlistedVariablesAreDyn: true }).parse('[1].map(a, a)');
    const bare = JSON.parse(
      JSON.stringify({ op: ast.op, args: ast.args }, (_, value) => (typeof value === 'bigint' ? Number(value) : value)),
    );
    expect(() => limitEvaluation(bare)).toThrow('the CEL library has changed');
  });
});
