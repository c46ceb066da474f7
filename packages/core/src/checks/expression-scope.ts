import type { Reference } from '../expressions/cel.ts';
import type { Path } from '../parse/source-document.ts';
import type { CheckContext, CheckedStep } from './check-context.ts';
import { findEarlyRead } from './early-read.ts';
import { suggestName } from './nearest-name.ts';

/** Where an expression stands decides what it may name. */
export interface Scope {
  readonly roots: readonly string[];
  /** The step that it belongs to, if any. */
  readonly checked?: CheckedStep;
  /** Said where a root exists but not here. */
  readonly place: string;
}

export const ROOTS: readonly string[] = [
  'params',
  'env',
  'secrets',
  'matrix',
  'item',
  'steps',
  'inputs',
  'outputs',
  'run',
  'attempt',
];

export interface NameFault {
  readonly code: string;
  readonly message: string;
  readonly hint?: string;
  readonly lookedIn?: Path;
}

/** What is wrong with one name in an expression; undefined if nothing is. `source` is the whole expression. */
export function checkReference(context: CheckContext, reference: Reference, scope: Scope): NameFault | undefined {
  const { root, keys } = reference;
  if (!ROOTS.includes(root)) {
    return {
      code: 'unknown-name',
      message: `there is nothing named \`${root}\` in expressions`,
      ...suggestName(root, ROOTS),
    };
  }
  if (!scope.roots.includes(root)) {
    return { code: 'unknown-name', message: `\`${root}\` cannot be used in ${scope.place}`, ...rootHint(root) };
  }
  const [name] = keys;
  if (root === 'steps') return name === undefined ? WITHOUT_NAME : checkStepReference(context, keys, scope);
  const known = namesUnder(root, context, scope.checked);
  if (known === undefined || name === undefined || known.includes(name)) return checkPathKey(root, keys);
  const where =
    root === 'params' ? 'the pipeline has no parameter' : `${ownerOf(root, scope)} has no ${NOUNS[root] ?? 'name'}`;
  const lookedIn = root === 'params' || root === 'secrets' ? [root] : [...(scope.checked?.path ?? []), root];
  return { code: 'unknown-name', message: `${where} \`${name}\``, lookedIn, ...suggestName(name, known) };
}

/** Only of the steps that an expression names is known that they are over. */
const WITHOUT_NAME: NameFault = {
  code: 'unknown-name',
  message: '`steps` must be followed by the name of a step, as it stands in the file',
  hint: "write steps.<name>, or steps['<name>']; a name cannot be computed",
};

const NOUNS: Readonly<Record<string, string>> = {
  env: 'environment variable',
  matrix: 'matrix axis',
  inputs: 'input',
  outputs: 'output',
  run: 'fact',
  secrets: 'secret',
};

function ownerOf(root: string, { checked }: Scope): string {
  if (root === 'run') return '`run`';
  return checked === undefined || root === 'secrets' ? 'the pipeline' : `step \`${checked.step.name}\``;
}

function rootHint(root: string): { hint?: string } {
  if (root === 'secrets')
    return { hint: 'a secret may be the whole value of a variable under `env`, and stands nowhere else' };
  return {};
}

function namesUnder(
  root: string,
  { pipeline }: CheckContext,
  checked: CheckedStep | undefined,
): readonly string[] | undefined {
  const step = checked?.step;
  switch (root) {
    case 'params':
      return Object.keys(pipeline.params);
    case 'secrets':
      return [...pipeline.secrets, ...(step?.secrets ?? [])];
    case 'env':
      return Object.keys(step?.env ?? pipeline.env);
    case 'inputs':
      return Object.keys(step?.inputs ?? {});
    case 'outputs':
      return Object.keys(step?.outputs ?? {});
    case 'run':
      return ['id', 'name', 'plannedTime', 'status'];
    case 'matrix':
      return step?.matrix === undefined ? [] : axesOf(step.matrix);
    default:
      return undefined;
  }
}

function axesOf(matrix: NonNullable<CheckedStep['step']['matrix']>): readonly string[] {
  const axes = new Set(Object.keys(matrix.axes));
  for (const entry of matrix.include) for (const axis of Object.keys(entry)) axes.add(axis);
  return [...axes];
}

/** Of an input or an output only the path is known. */
function checkPathKey(root: string, keys: readonly string[]): NameFault | undefined {
  if ((root !== 'inputs' && root !== 'outputs') || keys.length < 2 || keys[1] === 'path') return undefined;
  return { code: 'unknown-name', message: `\`${root}.${keys[0]}\` has no \`${keys[1]}\``, hint: 'it has `path`' };
}

const ASPECTS = ['results', 'outputs', 'status', 'ports'];
/** Of a port; `host` only where it is exposed. */
const PORT_FACTS = ['url', 'host', 'port'];

function checkStepReference(
  { steps, suggestStep }: CheckContext,
  keys: readonly string[],
  { checked }: Scope,
): NameFault | undefined {
  const [name = '', aspect, item, fact] = keys;
  const target = steps.get(name);
  if (target === undefined)
    return {
      code: 'unknown-step',
      message: `there is no step \`${name}\``,
      lookedIn: ['steps'],
      ...suggestStep(name),
    };
  if (checked !== undefined && target.final && !checked.final) {
    return {
      code: 'final-dependency',
      message: `step \`${checked.step.name}\` cannot use \`${name}\`, which runs in \`finally\`, after it`,
    };
  }
  if (aspect === undefined) return undefined;
  if (!ASPECTS.includes(aspect)) {
    return {
      code: 'unknown-name',
      message: `a step has no \`${aspect}\` in expressions`,
      ...suggestName(aspect, ASPECTS),
    };
  }
  if (item === undefined) return undefined;
  if (aspect === 'status')
    return { code: 'unknown-name', message: `\`steps.${name}.status\` is a text, and has no \`${item}\`` };
  const known = Object.keys(target.step[aspect as 'results' | 'outputs' | 'ports']);
  if (known.includes(item)) {
    if (aspect === 'ports') return portFault(target, item, fact);
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

function portFault({ step }: CheckedStep, port: string, fact: string | undefined): NameFault | undefined {
  if (fact === undefined) return undefined;
  const known = PORT_FACTS.filter((name) => name !== 'host' || step.ports[port]?.https === true);
  if (known.includes(fact)) return undefined;
  return {
    code: 'unknown-name',
    message: `the port \`${port}\` of step \`${step.name}\` has no \`${fact}\` in expressions`,
    ...suggestName(fact, known),
  };
}
