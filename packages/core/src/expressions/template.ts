import type { Json } from '../model/json.ts';
import { fail, ok, type Result } from '../model/result.ts';
import { compileExpression, type Expression, type ExpressionFault } from './cel.ts';
import type { TypedJson } from './cel-values.ts';
import { createDoubles, type Doubles, mergeDoubles } from './doubles.ts';
import type { Comparison } from './find-comparisons.ts';
import type { Reference } from './reference.ts';
import { hasExpression, splitTemplate } from './split-template.ts';

/** A text with its expressions compiled. */
export interface CompiledTemplate {
  readonly text: string;
  readonly references: readonly Reference[];
  readonly comparisons: readonly Comparison[];
  /** The expression, if it is the whole text: its value then keeps its type. */
  readonly whole: Expression | undefined;
  readonly evaluate: (context: Readonly<Record<string, unknown>>) => Result<Json, string>;
}

/** Offsets are positions in the template; `source` is the expression. */
export interface TemplateFault extends ExpressionFault {
  readonly source?: string;
}

/** Parses a template; does not check names or types. */
export function compileTemplate(text: string): Result<CompiledTemplate, TemplateFault> {
  if (!hasExpression(text))
    return ok({ text, references: [], comparisons: [], whole: undefined, evaluate: () => ok(text) });
  const split = splitTemplate(text);
  if (!split.ok) {
    const message = `\`\${{\` without a closing \`}}\`; for a literal \`\${{\` write \`$\${{\``;
    return fail({ code: 'bad-expression', message, start: split.error.start, end: split.error.start + 3 });
  }
  const pieces: (string | Expression)[] = [];
  const references: Reference[] = [];
  const comparisons: Comparison[] = [];
  for (const part of split.value) {
    if (part.kind === 'text') {
      pieces.push(part.text);
      continue;
    }
    const compiled = compileExpression(part.source);
    if (!compiled.ok) {
      const { start, end } = compiled.error;
      return fail({ ...compiled.error, start: part.start + start, end: part.start + end, source: part.source });
    }
    pieces.push(compiled.value);
    for (const reference of compiled.value.references) {
      references.push({ ...reference, start: part.start + reference.start, end: part.start + reference.end });
    }
    for (const comparison of compiled.value.comparisons) {
      comparisons.push({ ...comparison, start: part.start + comparison.start, end: part.start + comparison.end });
    }
  }
  const [only] = pieces;
  const whole = pieces.length === 1 && typeof only === 'object' ? only : undefined;
  if (whole !== undefined) {
    return ok({ text, references, comparisons, whole, evaluate: (context) => named(whole, whole.evaluate(context)) });
  }
  return ok({ text, references, comparisons, whole, evaluate: (context) => join(pieces, context) });
}

function join(
  pieces: readonly (string | Expression)[],
  context: Readonly<Record<string, unknown>>,
): Result<string, string> {
  let text = '';
  for (const piece of pieces) {
    if (typeof piece === 'string') {
      text += piece;
      continue;
    }
    const value = named(piece, piece.evaluate(context));
    if (!value.ok) return value;
    text += toText(value.value);
  }
  return ok(text);
}

/** Adds the source of the expression to the error. */
function named<T>({ source }: Expression, value: Result<T, string>): Result<T, string> {
  return value.ok ? value : fail(`\${{ ${source} }}: ${value.error}`);
}

/** Converts a value inside a text: strings unchanged, null as nothing, lists and maps as JSON. */
export function toText(value: Json): string {
  if (typeof value === 'string') return value;
  return value === null ? '' : JSON.stringify(value);
}

/**
 * A JSON value with all its templates evaluated, and the places where they yield doubles. The error is that of the first
 * one that fails.
 */
export function evaluateJson(
  value: Json,
  contextFor: (references: readonly Reference[]) => Readonly<Record<string, unknown>>,
): Result<TypedJson, string> {
  if (typeof value === 'string') {
    if (!hasExpression(value)) return ok({ value, doubles: undefined });
    const compiled = compileTemplate(value);
    if (!compiled.ok) return fail(compiled.error.message);
    const { references, whole, evaluate } = compiled.value;
    const context = contextFor(references);
    if (whole !== undefined) return named(whole, whole.evaluateTyped(context));
    const text = evaluate(context);
    return text.ok ? ok({ value: text.value, doubles: undefined }) : text;
  }
  if (typeof value !== 'object' || value === null) return ok({ value, doubles: undefined });
  const entries: [string, Json][] = [];
  const typed: [string, Doubles][] = [];
  for (const [key, item] of Object.entries(value)) {
    const result = evaluateJson(item, contextFor);
    if (!result.ok) return result;
    entries.push([key, result.value.value]);
    if (result.value.doubles !== undefined) typed.push([key, result.value.doubles]);
  }
  if (!Array.isArray(value)) return ok({ value: Object.fromEntries(entries), doubles: createDoubles({ keys: typed }) });
  const items = typed.map(([, doubles]) => doubles);
  return ok({
    value: entries.map(([, item]) => item),
    doubles: createDoubles({ items: mergeDoubles(items) }),
  });
}
