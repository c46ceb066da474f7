import { cellKeys } from '../axes/cell-keys.ts';
import { stepsOfItems } from '../axes/listed-axes.ts';
import { createTypeChecker, type TypeChecker } from '../expressions/cel.ts';
import { hasExpression } from '../expressions/split-template.ts';
import { type CompiledTemplate, compileTemplate } from '../expressions/template.ts';
import type { CellTemplates } from '../model/cell-templates.ts';
import type { Json } from '../model/json.ts';
import { typeOf as jsonTypeOf } from '../model/json-type.ts';
import { own } from '../model/own.ts';
import { interpreterOf } from '../parse/resolve-step.ts';
import { isShell, shellScript } from '../parse/shell-script.ts';
import type { Path } from '../parse/source-document.ts';
import type { Check, CheckContext, CheckedStep } from './check-context.ts';
import { pathInStep } from './check-context.ts';
import { checkReference, ROOTS, type Scope } from './expression-scope.ts';
import { expressionsOf } from './expressions-of.ts';
import { findComparisonFault } from './find-comparison-fault.ts';
import { TOO_LATE } from './too-late.ts';

/** Every expression can be parsed, refers only to existing names, and has the type that its key requires. */
export const checkExpressions: Check = (context) => {
  let types: TypeChecker | undefined;
  const typeOf: TypeChecker = (source) => {
    // Created lazily: most large pipelines have no expressions, and creating it takes some milliseconds.
    const { params, bound = {} } = context.pipeline;
    types ??= createTypeChecker(
      Object.fromEntries(Object.entries(params).map(([name, { type }]) => [name, type])),
      Object.fromEntries(Object.entries(bound).map(([name, { value }]) => [name, jsonTypeOf(value)])),
    );
    return types(source);
  };
  for (const checked of context.steps.values()) checkStep({ context, typeOf }, checked);
  checkAxisTexts({ context, typeOf });
  checkPipelineTexts({ context, typeOf });
};

interface Checking {
  readonly context: CheckContext;
  readonly typeOf: TypeChecker;
}

interface Place {
  readonly path: Path;
  readonly scope: Scope;
  /** The required type; absent if any value can be converted to text. */
  readonly wanted?: 'bool' | 'list' | 'number';
}

const IN_CONTAINER = ROOTS.filter((root) => root !== 'secrets');
const IN_ENV = ROOTS.filter((root) => root !== 'env');
const BEFORE_CELLS = ['params', 'steps', 'run', 'each'];
const BEFORE_RUN = ['params'];
/** What the plan fixes of a cell. */
const OF_CELL = ['params', 'each', 'matrix'];
/** What is fixed by the plan of a cell, also where its own step does not matter. */
const OF_ITEMS = ['params', 'each'];

function checkStep(checking: Checking, checked: CheckedStep): void {
  const { step } = checked;
  const at = (...keys: Path): Path => pathInStep(checking.context, checked, keys);
  const scope = (place: string, roots: readonly string[]): Scope => ({
    checked,
    place,
    roots: roots.filter(
      (root) => (root !== 'item' || step.foreach !== undefined) && (root !== 'each' || step.each !== undefined),
    ),
  });
  const one = (text: string | undefined, keys: Path, roots: readonly string[]): void => {
    if (text === undefined || !hasExpression(text)) return;
    const place = keys[0] === 'env' ? 'the value of a variable' : `\`${keys[0]}\``;
    checkText(checking, text, { path: at(...keys), scope: scope(place, roots) });
  };
  one(step.image, ['image'], IN_CONTAINER);
  one(step.instanceType, ['instanceType'], IN_CONTAINER);
  checkProgram(checking, { checked, at, scope: (place) => scope(place, IN_CONTAINER) });
  for (const name in step.env) if (!name.startsWith('SLUICE_ARG_')) one(step.env[name], ['env', name], IN_ENV);
  const isLong = typeof checked.raw.foreach === 'object' && !Array.isArray(checked.raw.foreach);
  const foreachPath = isLong ? at('foreach', 'items') : at('foreach');
  if (step.when !== undefined) {
    checkWhole(checking, step.when, { path: at('when'), scope: scope('`when`', BEFORE_CELLS), wanted: 'bool' });
  }
  if (typeof step.foreach === 'string') {
    checkWhole(checking, step.foreach, {
      path: foreachPath,
      scope: scope('`foreach`', BEFORE_CELLS),
      wanted: 'list',
    });
  } else if (step.foreach !== undefined) {
    checkJson(checking, step.foreach as Json, { path: foreachPath, scope: scope('`foreach`', BEFORE_CELLS) });
  }
  if (step.foreachKey !== undefined) {
    const place = { path: at('foreach', 'key'), scope: scope('`foreach.key`', [...BEFORE_CELLS, 'item']) };
    checkText(checking, step.foreachKey, place);
  }
  one(step.cache?.key, ['cache', 'key'], IN_CONTAINER);
  one(step.approval?.message, ['approval', 'message'], BEFORE_CELLS);
  const ready = step.service?.ready;
  if (ready !== undefined && 'command' in ready) {
    for (const [index, text] of ready.command.entries())
      one(text, ['service', 'ready', 'command', index], IN_CONTAINER);
  }
  if (step.matrix !== undefined) checkMatrix(checking, checked, scope('`matrix`', BEFORE_RUN));
  checkCellTemplates(checking, step.perCell ?? {}, {
    at,
    scope: (place) => ({ ...scope(place, OF_CELL), hints: TOO_LATE }),
  });
  for (const name in step.inputs) {
    const { from, or = [], where } = step.inputs[name]!;
    const keys = ['inputs', name, 'from'];
    const place = { path: at(...keys), scope: scope('the path of an edge', OF_ITEMS) };
    for (const { path = '' } of [from, ...or]) if (hasExpression(path)) checkText(checking, path, place);
    if (where !== undefined)
      checkJson(checking, where, { path: at('inputs', name, 'where'), scope: scope('`where`', OF_ITEMS) });
  }
}

function checkCellTemplates(
  checking: Checking,
  templates: CellTemplates,
  { at, scope }: Omit<StepPlace, 'checked'>,
): void {
  for (const { path, name, template, isNumber } of cellKeys(templates)) {
    const place = { path: at(...path), scope: scope(`\`${name}\``) };
    if (isNumber) checkWhole(checking, template, { ...place, wanted: 'number' });
    else checkText(checking, template, place);
  }
}

interface StepPlace {
  readonly checked: CheckedStep;
  readonly at: (...keys: Path) => Path;
  readonly scope: (place: string) => Scope;
}

/** Checks the raw text, because expressions of a script are variables in the model. */
function checkProgram(checking: Checking, { checked, at, scope }: StepPlace): void {
  const { raw, step } = checked;
  if (Array.isArray(raw.command) || (raw.command === undefined && raw.script === undefined)) {
    step.command?.forEach((text, index) => {
      if (hasExpression(text)) checkText(checking, text, { path: at('command', index), scope: scope('`command`') });
    });
  }
  for (const key of ['command', 'script'] as const) {
    const text = raw[key];
    if (typeof text !== 'string' || !hasExpression(text)) continue;
    checkText(checking, text, { path: at(key), scope: scope(`\`${key}\``) });
    const interpreter = interpreterOf(raw.shell ?? checking.context.raw.defaults?.shell);
    checkInterpreter(checking, text, { step, key, interpreter, path: at(key) });
  }
}

/** The interpreter must be a shell that can insert the value. */
function checkInterpreter(checking: Checking, text: string, place: ScriptPlace): void {
  const { step, key, interpreter, path } = place;
  if (isShell(interpreter)) {
    checkReach(checking, text, place);
    return;
  }
  checking.context.report({
    code: 'expression-in-script',
    message: `the ${key} of step \`${step.name}\` is run by ${interpreter[0]}, so the value of an expression in it would be executed as code`,
    path,
    hint: `pass the value in \`env\`, and read the variable in the ${key}`,
  });
}

interface ScriptPlace {
  readonly step: CheckedStep['step'];
  readonly key: string;
  readonly interpreter: readonly string[];
  readonly path: Path;
}

/** The shell must be able to insert the value at this position. */
function checkReach({ context }: Checking, script: string, { step, key, interpreter, path }: ScriptPlace): void {
  if (shellScript(script, interpreter).unreachable !== true) return;
  context.report({
    code: 'expression-in-script',
    message: `the \`${key}\` of step \`${step.name}\` has an expression in a here-document with a quoted delimiter, where the shell does not expand variables`,
    path,
    hint: 'remove the quotes around the delimiter',
  });
}

function checkMatrix(checking: Checking, checked: CheckedStep, scope: Scope): void {
  const { matrix } = checked.step;
  if (matrix === undefined) return;
  const at = (key: string): Path => pathInStep(checking.context, checked, ['matrix', key]);
  for (const [axis, values] of Object.entries(matrix.axes)) {
    const wanted = typeof values === 'string' ? { wanted: 'list' as const } : {};
    checkJson(checking, values, { path: at(axis), scope, ...wanted });
  }
  for (const key of ['include', 'exclude'] as const) {
    checkJson(checking, matrix[key] as unknown as Json, { path: at(key), scope });
  }
}

/** Checks every text in a value. */
function checkJson(checking: Checking, value: Json, place: Place): void {
  if (typeof value === 'string') {
    if (hasExpression(value)) checkText(checking, value, place);
  } else if (typeof value === 'object' && value !== null) {
    for (const [key, item] of Object.entries(value)) {
      checkJson(checking, item, { ...place, path: [...place.path, Array.isArray(value) ? Number(key) : key] });
    }
  }
}

function checkAxisTexts(checking: Checking): void {
  for (const [name, axis] of Object.entries(checking.context.pipeline.axes ?? {})) {
    const { items, key } = axis;
    const raw = own(checking.context.raw.axes, name);
    const isLong = typeof raw === 'object' && !Array.isArray(raw);
    const path = isLong ? ['axes', name, 'items'] : ['axes', name];
    const wanted = typeof items === 'string' ? { wanted: 'list' as const } : {};
    const isListed = stepsOfItems(axis).length > 0;
    const scope = { place: 'the items of an axis', roots: isListed ? [...BEFORE_RUN, 'steps'] : BEFORE_RUN };
    if (isListed) checkWhole(checking, String(items), { path, scope, ...wanted });
    else if (items !== undefined) checkJson(checking, items, { path, scope, ...wanted });
    if (key !== undefined && hasExpression(key))
      checkText(checking, key, { path: ['axes', name, 'key'], scope: { place: '`key`', roots: ['params', 'item'] } });
  }
}

function checkPipelineTexts(checking: Checking): void {
  const { pipeline, raw } = checking.context;
  const one = (text: string | undefined, path: Path, scope: Scope): void => {
    if (text !== undefined && hasExpression(text)) checkText(checking, text, { path, scope });
  };
  one(pipeline.concurrency?.group, ['concurrency', 'group'], { place: '`concurrency`', roots: ['params'] });
  pipeline.notify.forEach((notify, index) => {
    const path = Array.isArray(raw.notify) ? ['notify', index] : ['notify'];
    const scope = { place: '`notify`', roots: ['params', 'run', 'steps', 'secrets'] };
    one(notify.webhook, [...path, 'webhook'], scope);
    for (const [argument, text] of (notify.command ?? []).entries()) {
      one(text, [...path, 'command', argument], { ...scope, roots: ['params', 'run', 'steps'] });
    }
  });
}

/** Checks a text that must consist of one expression. */
function checkWhole(checking: Checking, text: string, place: Place): void {
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

function checkText({ context, typeOf }: Checking, text: string, { path, scope, wanted }: Place): void {
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
