import type { Reference } from '../expressions/reference.ts';
import { compileTemplate, toText } from '../expressions/template.ts';
import type { Json } from '../model/json.ts';
import { fail, ok, type Result } from '../model/result.ts';

/** Returns the context for the evaluation of these references. */
export type ContextFor = (references: readonly Reference[]) => Readonly<Record<string, unknown>>;

/** Evaluates a template. `what` begins the sentence of the error. */
export function evaluateValue(template: string, what: string, contextFor: ContextFor): Result<Json, string> {
  const compiled = compileTemplate(template);
  if (!compiled.ok) return fail(`${what} cannot be read: ${compiled.error.message}`);
  const value = compiled.value.evaluate(contextFor(compiled.value.references));
  return value.ok ? value : fail(`${what} cannot be evaluated: ${value.error}`);
}

/** Evaluates a template as text. `what` begins the sentence of the error. */
export function evaluateText(template: string, what: string, contextFor: ContextFor): Result<string, string> {
  if (!template.includes('${{')) return ok(template);
  const value = evaluateValue(template, what, contextFor);
  return value.ok ? ok(toText(value.value)) : value;
}
