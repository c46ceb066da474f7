import { type ASTNode, Environment } from '@marcbachmann/cel-js';
import { RE2JS } from 're2js';
import type { Json } from '../model/json.ts';
import type { JsonType } from '../model/json-type.ts';
import { own } from '../model/own.ts';
import { fail, ok, type Result } from '../model/result.ts';
import { fromCel, type TypedJson, typedFromCel, withDoubles } from './cel-values.ts';
import { describeCelFault } from './describe-cel-fault.ts';
import type { Doubles } from './doubles.ts';
import { limitEvaluation, SAFE_MATCHES } from './evaluation-budget.ts';
import { type Comparison, findComparisons } from './find-comparisons.ts';
import { keepMapKeys } from './keep-map-keys.ts';
import { matchText } from './match-text.ts';
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
  /** For a value that other expressions read. */
  readonly evaluateTyped: (context: Readonly<Record<string, unknown>>) => Result<TypedJson, string>;
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

/** Of no use in a file: `rewriteTemplates` calls it for values whose places of doubles are known, given as JSON. */
export const WITH_DOUBLES = 'withDoubles';

function createEnvironment(options: { unlistedVariablesAreDyn: boolean }): Environment {
  const environment = new Environment({ ...OPTIONS, ...options });
  environment.registerFunction(`string.${SAFE_MATCHES}(string): bool`, matchText);
  environment.registerFunction(`${WITH_DOUBLES}(dyn, string): dyn`, (value: unknown, doubles: string) =>
    withDoubles(value, JSON.parse(doubles) as Doubles),
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
    const evaluate = <T>(
      context: Readonly<Record<string, unknown>>,
      convert: (value: unknown) => T,
    ): Result<T, string> => {
      budget?.reset();
      try {
        const value = convert(program(context));
        const excess = budget?.finish(value);
        return excess === undefined ? ok(value) : fail(excess);
      } catch (error) {
        return fail(summaryOf(error));
      }
    };
    return ok({
      source,
      references: references.sort((a, b) => a.start - b.start),
      comparisons: findComparisons(first.ast, references),
      evaluate: (context) => evaluate(context, fromCel),
      evaluateTyped: (context) => evaluate(context, typedFromCel),
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
 * Creates a checker for the declared types of the parameters, and of those of used files. Its functions throw for
 * sources that `compileExpression` rejects.
 */
export function createTypeChecker(
  params: Readonly<Record<string, JsonType>>,
  bound: Readonly<Record<string, JsonType>> = {},
): TypeChecker {
  const environment = createEnvironment({ unlistedVariablesAreDyn: false });
  registerRecord(environment, 'params', params);
  registerRecord(environment, 'bound', bound);
  for (const root of ['env', 'secrets', 'each', 'matrix', 'steps', 'inputs', 'outputs', 'run']) {
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

function registerRecord(environment: Environment, name: string, types: Readonly<Record<string, JsonType>>): void {
  const fields = Object.keys(types);
  if (fields.length > 0 && fields.every((field) => /^[A-Za-z_]\w*$/.test(field))) {
    const schema = Object.fromEntries(
      fields.map((field) => [field, CEL_TYPES[own(types, field) ?? 'string'] ?? 'dyn']),
    );
    environment.registerVariable({ name, schema });
  } else environment.registerVariable(name, 'map');
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
