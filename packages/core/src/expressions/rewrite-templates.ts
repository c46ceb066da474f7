import type { Json } from '../model/json.ts';
import { compileExpression } from './cel.ts';
import type { Reference } from './reference.ts';
import { escapeTemplate, hasExpression, splitTemplate } from './split-template.ts';

/** What stands for a reference from now on. */
export interface Replacement {
  /** Source of an expression. */
  readonly source: string;
  /** Keys that follow it. */
  readonly rest: readonly string[];
}

/** Undefined leaves the reference as it is. */
export type Replace = (reference: Reference) => Replacement | undefined;

/** A copy of a JSON value in whose templates references are replaced. What cannot be read stays for the checks to report. */
export function rewriteTemplates(value: Json, replace: Replace): Json {
  if (typeof value === 'string') return hasExpression(value) ? rewriteTemplate(value, replace) : value;
  if (Array.isArray(value)) return value.map((item: Json) => rewriteTemplates(item, replace));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, rewriteTemplates(item, replace)]));
}

function rewriteTemplate(text: string, replace: Replace): string {
  const split = splitTemplate(text);
  if (!split.ok) return text;
  return split.value
    .map((part) => {
      if (part.kind === 'text') return escapeTemplate(part.text);
      return `\${{ ${rewriteExpression(part.source, replace)} }}`;
    })
    .join('');
}

function rewriteExpression(source: string, replace: Replace): string {
  const compiled = compileExpression(source);
  if (!compiled.ok) return source;
  let rewritten = source;
  for (const reference of [...compiled.value.references].reverse()) {
    const replacement = replace(reference);
    if (replacement === undefined) continue;
    const { start, end } = reference.has ?? reference;
    const text = reference.has ? hasSource(replacement) : withKeys(replacement.source, replacement.rest);
    rewritten = rewritten.slice(0, start) + text + rewritten.slice(end);
  }
  return rewritten;
}

function withKeys(source: string, keys: readonly string[]): string {
  return source + keys.map((key) => `[${JSON.stringify(key)}]`).join('');
}

/** `has` takes a variable with names behind dots, so that the value becomes one. A declared name itself is always there. */
function hasSource({ source, rest }: Replacement): string {
  if (rest.length === 0) return 'true';
  return `cel.bind(it, ${source}, has(it.${rest.join('.')}))`;
}

/** A value, whose texts may be templates, as source of an expression that yields it. */
export function expressionOf(value: Json, options: { readonly double?: boolean } = {}): string {
  if (typeof value === 'number') return numberSource(value, options.double === true);
  if (Array.isArray(value)) return `[${value.map((item: Json) => expressionOf(item)).join(', ')}]`;
  if (typeof value === 'object' && value !== null) {
    return `{${Object.entries(value)
      .map(([key, item]) => `${JSON.stringify(key)}: ${expressionOf(item)}`)
      .join(', ')}}`;
  }
  if (typeof value !== 'string' || !hasExpression(value)) return JSON.stringify(value);
  const split = splitTemplate(value);
  if (!split.ok) return JSON.stringify(value);
  const [only] = split.value;
  if (split.value.length === 1 && only?.kind === 'expression') {
    // What the file calls a number must be divided as one, also where a whole number is handed over.
    if (options.double === true) return `double${enclosed(only.source)}`;
    return NAME_ALONE.test(only.source) ? only.source : enclosed(only.source);
  }
  const pieces = split.value.map((part) =>
    part.kind === 'text' ? JSON.stringify(part.text) : `string${enclosed(part.source)}`,
  );
  return `(${pieces.join(' + ')})`;
}

/** Needs no brackets, and a secret must not have any: it is handed on by its name. */
const NAME_ALONE = /^[A-Za-z_]\w*(?:\.\w+|\[(?:'[^'\\]*'|"[^"\\]*")\])*$/;

/** In brackets, since `1 -x` with the number put in place of the name would else read as `1 --5`. */
function numberSource(value: number, double: boolean): string {
  const digits = JSON.stringify(value);
  const source = double && /^-?\d+$/.test(digits) ? `${digits}.0` : digits;
  return value < 0 ? `(${source})` : source;
}

/** A comment at the end must not take the bracket with it. */
function enclosed(source: string): string {
  return source.includes('//') ? `(${source}\n)` : `(${source})`;
}
