import { axesOfStep, matchAxes } from '../axes/implied-axes.ts';
import type { Reference } from '../expressions/reference.ts';
import { own } from '../model/own.ts';
import type { Pipeline } from '../model/pipeline.ts';
import type { Path } from '../parse/source-document.ts';
import type { CheckContext, CheckedStep } from './check-context.ts';
import { findEarlyRead } from './early-read.ts';
import { namesOf } from './names-of.ts';
import { suggestName } from './nearest-name.ts';

/** The names that an expression may use, which depend on its position. */
export interface Scope {
  readonly roots: readonly string[];
  /** The step that contains the expression, if any. */
  readonly checked?: CheckedStep;
  /** Describes the position, for messages about roots that exist but not here. */
  readonly place: string;
  /** By root that is not available here: what to do instead. */
  readonly hints?: Readonly<Record<string, string>>;
}

/** All roots that exist in any scope. */
export const ROOTS: readonly string[] = [
  'params',
  'env',
  'secrets',
  'each',
  'matrix',
  'item',
  'steps',
  'inputs',
  'outputs',
  'run',
  'attempt',
];

/** A fault without its path, which the caller adds. */
export interface NameFault {
  readonly code: string;
  readonly message: string;
  readonly hint?: string;
  readonly lookedIn?: Path;
}

/** The fault of one name in an expression; undefined if it is valid. `source` is the whole expression. */
export function checkReference(context: CheckContext, reference: Reference, scope: Scope): NameFault | undefined {
  const { root, keys } = reference;
  // No file names it: it stands for a parameter of a used file.
  if (root === 'bound' && own(context.pipeline.bound, keys[0] ?? '') !== undefined) return undefined;
  if (!ROOTS.includes(root)) {
    return {
      code: 'unknown-name',
      message: `unknown name \`${root}\``,
      ...(/^(?:True|False|None|null)$/i.test(root)
        ? { hint: `write ${root === 'None' ? 'null' : root.toLowerCase()}` }
        : suggestName(root, ROOTS)),
    };
  }
  if (!scope.roots.includes(root)) {
    const hint = own(scope.hints ?? {}, root);
    const advice = hint === undefined ? rootHint(root) : { hint };
    return { code: 'unknown-name', message: `\`${root}\` is not available in ${scope.place}`, ...advice };
  }
  const [name] = keys;
  if (root === 'steps') return name === undefined ? WITHOUT_NAME : checkStepReference(context, keys, scope);
  const known = namesUnder(root, context, scope.checked);
  if (known === undefined || name === undefined || known.has(name)) return checkPathKey(root, keys);
  const where =
    root === 'params'
      ? 'the pipeline has no parameter'
      : `${ownerOf(root, scope)} has no ${own(NOUNS, root) ?? 'name'}`;
  const lookedIn = root === 'params' || root === 'secrets' ? [root] : [...(scope.checked?.path ?? []), root];
  return { code: 'unknown-name', message: `${where} \`${name}\``, lookedIn, ...suggestName(name, known) };
}

/** Only steps that an expression names are certain to have ended. */
const WITHOUT_NAME: NameFault = {
  code: 'unknown-name',
  message: '`steps` must be followed by the name of a step',
  hint: "write steps.<name> or steps['<name>']; the name cannot be computed",
};

const NOUNS: Readonly<Record<string, string>> = {
  env: 'environment variable',
  each: 'axis',
  matrix: 'matrix axis',
  inputs: 'input',
  outputs: 'output',
  run: 'attribute',
  secrets: 'secret',
};

function ownerOf(root: string, { checked }: Scope): string {
  if (root === 'run') return '`run`';
  return checked === undefined || root === 'secrets' ? 'the pipeline' : `step \`${checked.step.name}\``;
}

function rootHint(root: string): { hint?: string } {
  if (root === 'each') return { hint: 'it exists in a step with `each`' };
  if (root === 'secrets') return { hint: 'use a secret only as the whole value of a variable under `env`' };
  return {};
}

function namesUnder(
  root: string,
  { pipeline }: CheckContext,
  checked: CheckedStep | undefined,
): ReadonlySet<string> | undefined {
  const step = checked?.step;
  switch (root) {
    case 'params':
      return namesOf(pipeline.params);
    case 'secrets':
      return step === undefined || step.secrets.length === 0
        ? namesOf(pipeline.secrets)
        : new Set([...namesOf(pipeline.secrets), ...step.secrets]);
    case 'env':
      return ownVariables(step?.env ?? pipeline.env);
    case 'inputs':
      return namesOf(step?.inputs ?? {});
    case 'outputs':
      return namesOf(step?.outputs ?? {});
    case 'run':
      return namesOf(FACTS);
    case 'each':
      return new Set(step === undefined ? [] : axesOfStep(pipeline, step));
    case 'matrix':
      return step?.matrix === undefined ? new Set() : axesOf(step.matrix);
    default:
      return undefined;
  }
}

const variables = new WeakMap<object, ReadonlySet<string>>();

/** The variables that the file declares; those for the values of a script's expressions are internal. */
function ownVariables(env: Readonly<Record<string, string>>): ReadonlySet<string> {
  const before = variables.get(env);
  if (before !== undefined) return before;
  const found = new Set(Object.keys(env).filter((name) => !name.startsWith('SLUICE_ARG_')));
  variables.set(env, found);
  return found;
}

const FACTS: readonly string[] = ['id', 'name', 'plannedTime', 'status'];

const axes = new WeakMap<object, ReadonlySet<string>>();

function axesOf(matrix: NonNullable<CheckedStep['step']['matrix']>): ReadonlySet<string> {
  const before = axes.get(matrix);
  if (before !== undefined) return before;
  const found = new Set(Object.keys(matrix.axes));
  for (const entry of matrix.include) for (const axis of Object.keys(entry)) found.add(axis);
  axes.set(matrix, found);
  return found;
}

/** Inputs and outputs have only a path. */
function checkPathKey(root: string, keys: readonly string[]): NameFault | undefined {
  if ((root !== 'inputs' && root !== 'outputs') || keys.length < 2 || keys[1] === 'path') return undefined;
  return { code: 'unknown-name', message: `\`${root}.${keys[0]}\` has no \`${keys[1]}\``, hint: 'it has `path`' };
}

const ASPECTS = ['results', 'outputs', 'status', 'reason', 'reused', 'ports'];
const SCALARS: ReadonlyMap<string, string> = new Map([
  ['status', 'a string'],
  ['reason', 'a string'],
  ['reused', 'a boolean'],
]);
/** The facts about a port; `host` only if it is exposed. */
const PORT_FACTS = ['url', 'host', 'port'];

function checkStepReference(
  { pipeline, steps, suggestStep }: CheckContext,
  keys: readonly string[],
  { checked }: Scope,
): NameFault | undefined {
  const [name = '', aspect, item, fact] = keys;
  const target = steps.get(name);
  if (target === undefined)
    return {
      code: 'unknown-step',
      message: `step \`${name}\` does not exist`,
      lookedIn: ['steps'],
      ...suggestStep(name),
    };
  if (checked !== undefined && target.final && !checked.final) {
    return {
      code: 'final-dependency',
      message: `step \`${checked.step.name}\` cannot refer to \`${name}\`: steps in \`finally\` run after all others`,
    };
  }
  if (aspect === undefined) return undefined;
  if (!ASPECTS.includes(aspect)) {
    return {
      code: 'unknown-name',
      message: `a step has no attribute \`${aspect}\``,
      ...suggestName(aspect, ASPECTS),
    };
  }
  if (item === undefined) return undefined;
  const scalar = SCALARS.get(aspect);
  if (scalar !== undefined)
    return {
      code: 'unknown-name',
      message: `\`steps.${name}.${aspect}\` is ${scalar} and has no attribute \`${item}\``,
    };
  const known = namesOf(target.step[aspect as 'results' | 'outputs' | 'ports']);
  if (known.has(item)) {
    if (aspect === 'ports') return severalPorts(pipeline, { of: target, by: checked }) ?? portFault(target, item, fact);
    if (aspect === 'outputs' && own(target.step.outputs, item)?.temporary === true) return temporaryFault(name, item);
    return checked && findEarlyRead({ of: target, by: checked, what: aspect });
  }
  const message = `step \`${name}\` has no ${aspect.slice(0, -1)} \`${item}\``;
  return {
    code: `unknown-${aspect.slice(0, -1)}`,
    message,
    lookedIn: [...target.path, aspect],
    ...suggestName(item, known),
  };
}

/** A temporary output stays only for the cells that mount it. */
function temporaryFault(step: string, output: string): NameFault {
  const message = `\`steps.${step}.outputs.${output}\` is the place of a temporary output, which can be removed before it is used`;
  return {
    code: 'conflicting-keys',
    message,
    hint: `read it as an input, or remove \`temporary\` from \`${step}.${output}\``,
  };
}

/** The ports of a service with `each` are those of one cell: of the one that the reading cell means. */
function severalPorts(
  pipeline: Pipeline,
  { of: { step }, by }: { readonly of: CheckedStep; readonly by: CheckedStep | undefined },
): NameFault | undefined {
  if (step.each === undefined) return undefined;
  const isOne = by?.step.each !== undefined && matchAxes(pipeline, { reader: by.step, source: step }).isSingle;
  if (isOne) return undefined;
  const message = `service \`${step.name}\` has a container for each \`${step.each.join('`, `')}\`, so \`ports\` would mean those of several`;
  return { code: 'no-common-axis', message, hint: `read them in a step with \`each: [${step.each.join(', ')}]\`` };
}

function portFault({ step }: CheckedStep, port: string, fact: string | undefined): NameFault | undefined {
  if (fact === undefined) return undefined;
  const known = PORT_FACTS.filter((name) => name !== 'host' || own(step.ports, port)?.https === true);
  if (known.includes(fact)) return undefined;
  return {
    code: 'unknown-name',
    message: `the port \`${port}\` of step \`${step.name}\` has no attribute \`${fact}\``,
    ...suggestName(fact, known),
  };
}
