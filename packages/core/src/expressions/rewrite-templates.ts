import type { Json } from '../model/json.ts';
import { own } from '../model/own.ts';
import { compileExpression, WITH_DOUBLES } from './cel.ts';
import { type Doubles, findDoubles, mergeDoubles } from './doubles.ts';
import type { Reference } from './reference.ts';
import { escapeTemplate, hasExpression, splitTemplate } from './split-template.ts';

/** The source that replaces a reference. */
export interface Replacement {
  /** The source of an expression that stands for a part of the reference. */
  readonly source: string;
  /** Keys of the reference that follow the replaced part. */
  readonly rest: readonly string[];
}

/** Undefined leaves the reference unchanged. `path` is the place of the template in the rewritten value. */
export type Replace = (reference: Reference, path: Path) => Replacement | undefined;

type Path = readonly (string | number)[];

/**
 * A copy of a JSON value with the references in its templates replaced. Invalid templates are left for the checks to
 * report.
 */
export function rewriteTemplates(value: Json, replace: Replace, path: Path = []): Json {
  if (typeof value === 'string')
    return hasExpression(value) ? rewriteTemplate(value, (reference) => replace(reference, path)) : value;
  if (Array.isArray(value)) return value.map((item: Json, index) => rewriteTemplates(item, replace, [...path, index]));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [key, rewriteTemplates(item, replace, [...path, key])]),
  );
}

type ReplaceHere = (reference: Reference) => Replacement | undefined;

function rewriteTemplate(text: string, replace: ReplaceHere): string {
  const split = splitTemplate(text);
  if (!split.ok) return text;
  return split.value
    .map((part) => {
      if (part.kind === 'text') return escapeTemplate(part.text);
      return `\${{ ${rewriteExpression(part.source, replace)} }}`;
    })
    .join('');
}

function rewriteExpression(source: string, replace: ReplaceHere): string {
  const compiled = compileExpression(source);
  if (!compiled.ok) return source;
  let rewritten = source;
  /** By name: the values that are bound outside of the expression. */
  const hoisted = new Map<string, string>();
  for (const reference of [...compiled.value.references].reverse()) {
    const found = replace(reference);
    if (found === undefined) continue;
    const { bound } = reference;
    // In a loop, a whole list would be converted in every iteration.
    const isHoisted = isCaptured(found.source, bound) || (bound !== undefined && found.source.includes(WITH_DOUBLES));
    const replacement = isHoisted ? { ...found, source: hoist(found.source) } : found;
    const { start, end } = reference.has ?? reference;
    const text = reference.has ? hasSource(replacement) : withKeys(replacement.source, replacement.rest);
    rewritten = rewritten.slice(0, start) + text + rewritten.slice(end);
  }
  for (const [name, value] of hoisted) rewritten = `cel.bind(${name}, ${value}, ${enclosed(rewritten)})`;
  return rewritten;

  function hoist(value: string): string {
    for (const [name, known] of hoisted) if (known === value) return name;
    const texts = [source, value, ...hoisted.values()];
    let number = 0;
    while (texts.some((text) => text.includes(`outer${number}`)) || hoisted.has(`outer${number}`)) number++;
    hoisted.set(`outer${number}`, value);
    return `outer${number}`;
  }
}

/** Whether a variable at the place of a reference would hide a name that the replacement uses. */
function isCaptured(source: string, bound: ReadonlySet<string> | undefined): boolean {
  if (bound === undefined) return false;
  const compiled = compileExpression(source);
  return compiled.ok && compiled.value.references.some(({ root }) => bound.has(root));
}

function withKeys(source: string, keys: readonly string[]): string {
  return source + keys.map((key) => `[${JSON.stringify(key)}]`).join('');
}

/**
 * `has` accepts only a variable with names and dots, so the value is bound to one. A declared name itself always
 * exists.
 */
function hasSource({ source, rest }: Replacement): string {
  if (rest.length === 0) return 'true';
  return `cel.bind(it, ${source}, has(it.${rest.join('.')}))`;
}

/** How a value becomes the source of an expression. */
export interface SourceOptions {
  /** Strings are no templates. */
  readonly literal?: boolean;
  /** Places of doubles beside those that numbers with a fraction show. */
  readonly doubles?: Doubles | undefined;
  /** Returns a source that stands for a list or a map without templates, which may be too long for an expression. */
  readonly bind?: (value: Json, doubles: Doubles | undefined) => string;
}

/** The source of an expression that yields a value whose strings may be templates, unless it is `literal`. */
export function expressionOf(value: Json, options: SourceOptions = {}): string {
  return sourceOf(value, { ...options, doubles: mergeDoubles([options.doubles, findDoubles([value])]) });
}

function sourceOf(value: Json, options: SourceOptions): string {
  const { literal = false, doubles, bind } = options;
  const double = doubles?.number === true;
  if (typeof value === 'number') return numberSource(value, double);
  if (typeof value === 'object' && value !== null) {
    if (bind !== undefined && (literal || !hasTemplates(value))) return bind(value, doubles);
    if (Array.isArray(value))
      return `[${value.map((item: Json) => sourceOf(item, { ...options, doubles: doubles?.items })).join(', ')}]`;
    return `{${Object.entries(value)
      .map(
        ([key, item]) => `${JSON.stringify(key)}: ${sourceOf(item, { ...options, doubles: own(doubles?.keys, key) })}`,
      )
      .join(', ')}}`;
  }
  if (typeof value !== 'string' || literal || !hasExpression(value)) return JSON.stringify(value);
  const split = splitTemplate(value);
  if (!split.ok) return JSON.stringify(value);
  const [only] = split.value;
  if (split.value.length === 1 && only?.kind === 'expression') {
    // A value declared as a number must be divided as one, even if it is a whole number.
    if (double) return `double${enclosed(only.source)}`;
    if (doubles !== undefined) {
      const places = JSON.stringify(JSON.stringify(doubles));
      return `${WITH_DOUBLES}(${enclosed(only.source)}, ${places})`;
    }
    return NAME_ALONE.test(only.source) ? only.source : enclosed(only.source);
  }
  const pieces = split.value.map((part) =>
    part.kind === 'text' ? JSON.stringify(part.text) : `string${enclosed(part.source)}`,
  );
  return `(${pieces.join(' + ')})`;
}

function hasTemplates(value: Json): boolean {
  if (typeof value === 'string') return hasExpression(value);
  return typeof value === 'object' && value !== null && Object.values(value).some(hasTemplates);
}

/** Needs no parentheses, and a secret must not have any: it is passed by name. */
const NAME_ALONE = /^[A-Za-z_]\w*(?:\.\w+|\[(?:'[^'\\]*'|"[^"\\]*")\])*$/;

/** In parentheses: `1 -x` would otherwise become `1 --5`. */
function numberSource(value: number, double: boolean): string {
  const digits = JSON.stringify(value);
  const source = double && /^-?\d+$/.test(digits) ? `${digits}.0` : digits;
  return value < 0 ? `(${source})` : source;
}

/** A trailing comment must not include the closing parenthesis. */
function enclosed(source: string): string {
  return source.includes('//') ? `(${source}\n)` : `(${source})`;
}
