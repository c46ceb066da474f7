import type { TypeChecker } from '../expressions/cel.ts';
import { type CompiledTemplate, compileTemplate } from '../expressions/template.ts';
import type { Path } from '../parse/source-document.ts';
import type { CheckContext } from './check-context.ts';
import { checkReference, type Scope } from './expression-scope.ts';
import { expressionsOf } from './expressions-of.ts';
import { findComparisonFault } from './find-comparison-fault.ts';

/** A pipeline, and the types of its expressions. */
export interface Checking {
  readonly context: CheckContext;
  readonly typeOf: TypeChecker;
}

/** Where an expression is, and what it may be there. */
export interface Place {
  readonly path: Path;
  readonly scope: Scope;
  /** The required type; absent if any value can be converted to text. */
  readonly wanted?: 'bool' | 'list' | 'number';
}

/** Checks a text that must consist of one expression. */
export function checkWhole(checking: Checking, text: string, place: Place): void {
  const compiled = compileTemplate(text);
  if (compiled.ok && compiled.value.whole === undefined) {
    const message = `${place.scope.place} is the string ${JSON.stringify(text)}, but must be an expression`;
    checking.context.report({
      code: 'bad-expression',
      message,
      path: place.path,
      hint: `write \${{ ${text.replace(/\$\{\{|\}\}/g, '').trim()} }}`,
    });
    return;
  }
  checkText(checking, text, place);
}

/** Checks every expression of a text: that it can be parsed, what it names, and its type. */
export function checkText({ context, typeOf }: Checking, text: string, { path, scope, wanted }: Place): void {
  const compiled = compileTemplate(text);
  if (!compiled.ok) {
    const { code, message, start, end } = compiled.error;
    context.report({ code, message: `invalid expression: ${message}`, path, within: { text, start, end } });
    return;
  }
  const template = compiled.value;
  let named = true;
  for (const reference of template.references) {
    const fault =
      hyphenFault(context, text, reference) ??
      checkReference(context, reference, scope) ??
      secretFault(template, reference);
    if (fault === undefined) continue;
    named = false;
    context.report({ ...fault, path, within: { text, start: reference.start, end: reference.end } });
    if (fault.code === 'hyphen') break;
  }
  for (const comparison of template.comparisons) {
    const fault = findComparisonFault(comparison);
    if (fault) context.report({ ...fault, path, within: { text, start: comparison.start, end: comparison.end } });
  }
  if (named) checkTypes({ context, typeOf }, template, { path, scope, ...(wanted && { wanted }) });
}

/** CEL reads `steps.my-step` as a subtraction. */
function hyphenFault(
  { steps, pipeline }: CheckContext,
  text: string,
  { root, keys, start, end }: { root: string; keys: readonly string[]; start: number; end: number },
) {
  const [name] = keys;
  if (name === undefined || text[end] !== '-' || (root !== 'steps' && root !== 'params')) return undefined;
  const written = /^[A-Za-z]+\.([A-Za-z0-9_-]+)/.exec(text.slice(start, start + 300))?.[1] ?? '';
  const isKnown = root === 'steps' ? steps.has(written) : Object.hasOwn(pipeline.params, written);
  if (!isKnown || written === name) return undefined;
  return {
    code: 'hyphen',
    message: `\`${root}.${written}\` is parsed as a subtraction because the name contains a hyphen`,
    hint: `write ${root}['${written}']`,
  };
}

function secretFault(template: CompiledTemplate, { root, keys }: { root: string; keys: readonly string[] }) {
  if (root !== 'secrets') return undefined;
  const whole = template.whole?.references;
  if (
    whole?.length === 1 &&
    keys.length === 1 &&
    /^secrets(?:\.\w+|\[['"]\w+['"]\])$/.test(template.whole?.source ?? '')
  )
    return undefined;
  return {
    code: 'secret-in-text',
    message: 'a secret cannot be part of a string or of a larger expression',
    hint: 'use it as the whole value of a variable under `env`',
  };
}

function checkTypes({ context, typeOf }: Checking, template: CompiledTemplate, { path, scope, wanted }: Place): void {
  const { text, whole } = template;
  for (const match of whole === undefined
    ? expressionsOf(text)
    : [{ source: whole.source, start: text.indexOf(whole.source) }]) {
    const type = typeOf(match.source);
    if (!type.ok) {
      const { start, end, message } = type.error;
      context.report({
        code: 'wrong-type',
        message: `invalid expression: ${message}`,
        path,
        within: { text, start: match.start + start, end: match.start + end },
      });
    } else if (wanted !== undefined && !fits(type.value, wanted)) {
      const article = { bool: 'a boolean', list: 'a list', number: 'a number' }[wanted];
      context.report({
        code: 'wrong-type',
        message: `${scope.place} must be ${article}, but the expression has the type ${type.value}`,
        path,
      });
    }
  }
}

function fits(type: string, wanted: NonNullable<Place['wanted']>): boolean {
  if (type === 'dyn' || type.startsWith('dyn<')) return true;
  if (wanted === 'number') return type === 'int' || type === 'uint' || type === 'double';
  return wanted === 'bool' ? type === 'bool' : type.startsWith('list');
}
