import { type ASTNode, Environment } from '@marcbachmann/cel-js';
import { RE2JS } from 're2js';
import type { Json } from '../model/json.ts';
import type { JsonType } from '../model/json-type.ts';
import { own } from '../model/own.ts';
import { fail, ok, type Result } from '../model/result.ts';
import { describeCelFault } from './describe-cel-fault.ts';
import { type Doubles, findDoubles } from './doubles.ts';
import { limitEvaluation } from './evaluation-budget.ts';
import { type Comparison, findComparisons } from './find-comparisons.ts';
import { keepMapKeys } from './keep-map-keys.ts';
import { collectReferences, type Reference } from './reference.ts';
import { walk } from './walk.ts';

/**
 * A compiled expression. Only this file and those that it imports use the expression library, and they
 * close its gaps: `matches` uses a linear-time engine instead of backtracking regular expressions (26 characters took 4
 * s), numbers of JSON become integers and doubles of CEL, and sizes and evaluation cost are bounded.
 */
export interface Expression {
  readonly source: string;
  /**
   * Every access to a root, for example `steps.fit.results.accuracy`, without the variables of `map` and similar
   * methods.
   */
  readonly references: readonly Reference[];
  /** String literals that are compared with a reference. */
  readonly comparisons: readonly Comparison[];
  /** The error is one line. Values of the context must come from `toCel`. */
  readonly evaluate: (context: Readonly<Record<string, unknown>>) => Result<Json, string>;
}

/** Why an expression is invalid. `start` and `end` are offsets in its source. */
export interface ExpressionFault {
  readonly code: 'bad-expression' | 'wrong-type';
  readonly message: string;
  readonly start: number;
  readonly end: number;
}

const LIMITS = {
  maxAstNodes: 10_000,
  maxDepth: 100,
  maxListElements: 10_000,
  maxMapEntries: 1000,
  maxCallArguments: 32,
};
const OPTIONS = { homogeneousAggregateLiterals: false, limits: LIMITS };

/** Has as many letters as `matches`, so that offsets in messages stay correct. */
const SAFE_MATCHES = 're2find';

function createEnvironment(options: { unlistedVariablesAreDyn: boolean }): Environment {
  const environment = new Environment({ ...OPTIONS, ...options });
  environment.registerFunction(`string.${SAFE_MATCHES}(string): bool`, (text: string, pattern: string) =>
    RE2JS.compile(pattern).matcher(text).find(),
  );
  for (const [operator, apply] of Object.entries(MIXED_ARITHMETIC)) {
    environment.registerOperator(`int ${operator} double`, (a: bigint, b: number) => apply(Number(a), b));
    environment.registerOperator(`double ${operator} int`, (a: number, b: bigint) => apply(a, Number(b)));
  }
  return environment;
}

/** CEL has no operators between integers and doubles, but users write `params.rate * 2`. */
const MIXED_ARITHMETIC: Readonly<Record<string, (a: number, b: number) => number>> = {
  '+': (a, b) => a + b,
  '-': (a, b) => a - b,
  '*': (a, b) => a * b,
  '/': (a, b) => a / b,
};

const UNTYPED = createEnvironment({ unlistedVariablesAreDyn: true });

/** Parses an expression; does not check names or types. */
export function compileExpression(source: string): Result<Expression, ExpressionFault> {
  if (source === '') return fail({ code: 'bad-expression', message: 'the expression is empty', start: 0, end: 0 });
  try {
    const first = UNTYPED.parse(source);
    const fenced = fenceMatches(source, first.ast);
    const program = fenced === source ? first : UNTYPED.parse(fenced);
    const references: Reference[] = [];
    collectReferences(first.ast, new Set(), references);
    keepMapKeys(program.ast);
    const budget = limitEvaluation(program.ast);
    return ok({
      source,
      references: references.sort((a, b) => a.start - b.start),
      comparisons: findComparisons(first.ast, references),
      evaluate(context) {
        budget?.reset();
        try {
          const value = fromCel(program(context));
          return budget?.isSpent() ? fail('it takes too long') : ok(value);
        } catch (error) {
          return fail(summaryOf(error));
        }
      },
    });
  } catch (error) {
    return fail(faultOf(error, { code: 'bad-expression', source }));
  }
}

/** Infers the type of an expression, as far as the declared parameters determine it. */
export type TypeChecker = (source: string) => Result<string, ExpressionFault>;

const CEL_TYPES: Readonly<Record<JsonType, string>> = {
  string: 'string',
  integer: 'int',
  number: 'double',
  boolean: 'bool',
  array: 'list',
  object: 'map',
};

/**
 * Creates a checker for the declared types of the parameters. Its functions throw for sources that `compileExpression`
 * rejects.
 */
export function createTypeChecker(params: Readonly<Record<string, JsonType>>): TypeChecker {
  const environment = createEnvironment({ unlistedVariablesAreDyn: false });
  const names = Object.keys(params);
  if (names.length > 0 && names.every((name) => /^[A-Za-z_]\w*$/.test(name))) {
    const schema = Object.fromEntries(names.map((name) => [name, CEL_TYPES[own(params, name) ?? 'string'] ?? 'dyn']));
    environment.registerVariable({ name: 'params', schema });
  } else environment.registerVariable('params', 'map');
  for (const root of ['env', 'secrets', 'matrix', 'steps', 'inputs', 'outputs', 'run']) {
    environment.registerVariable(root, 'map');
  }
  environment.registerVariable('item', 'dyn');
  environment.registerVariable('attempt', 'int');
  return (source) => {
    const fenced = fenceMatches(source, UNTYPED.parse(source).ast);
    const checked = environment.check(fenced);
    if (checked.valid) return ok(String(checked.type));
    return fail(faultOf(checked.error, { code: 'wrong-type', source }));
  };
}

/** Compiles a pattern for the linear-time engine; the error says why it is not supported. */
export function checkPattern(pattern: string): Result<(text: string) => boolean, string> {
  try {
    const compiled = RE2JS.compile(pattern);
    return ok((text) => compiled.matcher(text).find());
  } catch (error) {
    return fail(error instanceof Error ? error.message : String(error));
  }
}

function faultOf(error: unknown, { code, source }: { code: ExpressionFault['code']; source: string }): ExpressionFault {
  const range = (error as { range?: { start: number; end: number } }).range;
  const message = describeCelFault(summaryOf(error).replaceAll(SAFE_MATCHES, 'matches'), source);
  return { code, message, start: range?.start ?? 0, end: Math.min(range?.end ?? source.length, source.length) };
}

function summaryOf(error: unknown): string {
  const { summary, message } = error as { summary?: string; message?: string };
  const line = (summary ?? message ?? String(error)).split('\n')[0] ?? '';
  return line.slice(0, 1).toLowerCase() + line.slice(1);
}

function fenceMatches(source: string, ast: ASTNode): string {
  if (!source.includes('matches')) return source;
  let fenced = source;
  walk(ast, (node) => {
    if (node.op === 'call' && node.args[0] === 'matches') throw new Unfenced(node);
    if (node.op !== 'rcall' || node.args[0] !== 'matches') return;
    const at = fenced.indexOf('matches', node.args[1].end);
    fenced = fenced.slice(0, at) + SAFE_MATCHES + fenced.slice(at + SAFE_MATCHES.length);
  });
  return fenced;
}

class Unfenced extends Error {
  readonly range: { readonly start: number; readonly end: number };
  constructor(node: ASTNode) {
    super('`matches` is a method: write text.matches(pattern)');
    this.range = { start: node.start, end: node.end };
  }
}

/**
 * Converts JSON to CEL: whole numbers become integers, unless they are known to be `doubles`. By default, these are the
 * numbers at the same place as one with a fraction, such as in the same list.
 */
export function toCel(value: Json, doubles: Doubles | undefined = findDoubles([value])): unknown {
  return convert(value, doubles);
}

function convert(value: Json, doubles: Doubles | undefined): unknown {
  if (typeof value === 'number') return Number.isSafeInteger(value) && doubles?.number !== true ? BigInt(value) : value;
  if (Array.isArray(value)) return value.map((item: Json) => convert(item, doubles?.items));
  if (typeof value !== 'object' || value === null) return value;
  return new Map(Object.entries(value).map(([key, item]) => [key, convert(item, own(doubles?.keys, key))]));
}

/**
 * Limit for the values in a result: a list that contains one list twice, repeatedly, is small until it is serialized.
 */
const MAX_RESULT_VALUES = 2_000_000;

function fromCel(value: unknown, counted = { values: 0 }): Json {
  if (++counted.values > MAX_RESULT_VALUES) throw new Error(`the result holds more than ${MAX_RESULT_VALUES} values`);
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return value;
  if (typeof value === 'bigint') {
    if (value > BigInt(Number.MAX_SAFE_INTEGER) || value < BigInt(Number.MIN_SAFE_INTEGER)) {
      throw new Error(`the integer ${value} is too large`);
    }
    return Number(value);
  }
  if (typeof value === 'number') {
    if (!Number.isFinite(value)) throw new Error(`the result ${value} is not a finite number`);
    return value;
  }
  if (Array.isArray(value)) return value.map((item: unknown) => fromCel(item, counted));
  if (value instanceof Date) return value.toISOString();
  const entries = value instanceof Map ? [...value] : isPlainObject(value) ? Object.entries(value) : undefined;
  if (entries === undefined) throw new Error('the result is neither a string, a number, a boolean, a list nor a map');
  return Object.fromEntries(entries.map(([key, item]) => [String(key), fromCel(item, counted)]));
}

function isPlainObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype;
}
