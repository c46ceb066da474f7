import { stepsOfItems } from '../axes/listed-axes.ts';
import { createTypeChecker, type TypeChecker } from '../expressions/cel.ts';
import { hasExpression } from '../expressions/split-template.ts';
import type { Json } from '../model/json.ts';
import { typeOf as jsonTypeOf } from '../model/json-type.ts';
import { own } from '../model/own.ts';
import { interpreterOf } from '../parse/resolve-program.ts';
import { isShell, shellScript } from '../parse/shell-script.ts';
import type { Path } from '../parse/source-document.ts';
import { checkCellTemplates } from './check-cell-templates.ts';
import type { Check, CheckedStep } from './check-context.ts';
import { pathInStep } from './check-context.ts';
import { type Checking, checkText, checkWhole, type Place } from './check-text.ts';
import { ROOTS, type Scope } from './expression-scope.ts';

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

const IN_CONTAINER = ROOTS.filter((root) => root !== 'secrets');
const IN_ENV = ROOTS.filter((root) => root !== 'env');
const BEFORE_CELLS = ['params', 'steps', 'run', 'each'];
const BEFORE_RUN = ['params'];
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
  checkCellTemplates(checking, { step, at, scope });
  for (const name in step.inputs) {
    const { from, or = [], where } = step.inputs[name]!;
    const keys = ['inputs', name, 'from'];
    const place = { path: at(...keys), scope: scope('the path of an edge', OF_ITEMS) };
    for (const { path = '' } of [from, ...or]) if (hasExpression(path)) checkText(checking, path, place);
    if (where !== undefined)
      checkJson(checking, where, { path: at('inputs', name, 'where'), scope: scope('`where`', OF_ITEMS) });
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
