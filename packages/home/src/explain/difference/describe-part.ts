import { type Json, own, type Step } from '@sluice/core';
import type { PartDifference } from '@sluice/run';
import type { ReadValue } from './comparable-run.ts';
import { changeWords, describeTextChange, type TextChange } from './describe-text-change.ts';

/** A part of a fingerprint with its value in both runs. */
export interface ChangedPart {
  readonly name: string;
  readonly before: string | undefined;
  readonly after: string | undefined;
  /** What its expressions read that differs; undefined if its text in the pipeline differs. */
  readonly reads: readonly ReadValue[] | undefined;
}

/** The variable for the value of an expression in a script. */
const SCRIPT_VALUE = 'env.SLUICE_ARG_';

/** A part that differs, in words. Values of secrets are in no fingerprint: only their names are. */
export function describePart(step: Step, part: ChangedPart): PartDifference {
  const { name, before, after, reads } = part;
  const { kind, subject } = subjectOf(step, part);
  if (before === undefined || after === undefined) {
    const value = shorten(before ?? after ?? '');
    const message =
      before === undefined ? `${subject} is new: '${value}'` : `${subject} was removed: it was '${value}'`;
    return { kind, name, ...(before === undefined ? { after: value } : { before: value }), message };
  }
  const change = describeChange(name, before, after);
  const sides = {
    ...(change.before !== undefined && { before: change.before }),
    ...(change.after !== undefined && { after: change.after }),
  };
  return { kind, name, ...sides, message: messageOf({ subject, change, name, reads }) };
}

function messageOf(given: {
  readonly subject: string;
  readonly change: TextChange;
  readonly name: string;
  readonly reads: readonly ReadValue[] | undefined;
}): string {
  const { subject, change, name, reads = [] } = given;
  const [first] = reads;
  if (first === undefined || name.startsWith(SCRIPT_VALUE)) {
    const { line, ...sides } = change;
    return line === undefined ? `${subject} ${changeWords(sides)}` : `line ${line} of ${subject} ${changeWords(sides)}`;
  }
  const more = reads.length === 1 ? '' : `, and ${reads.length - 1} other values that it contains differ`;
  const isSame = change.before === textOf(first.before) && change.after === textOf(first.after);
  if (isSame) return `${subject} ${changeWords(change)} (${nameOfRead(first.name)})${more}`;
  return `${subject} differs because ${describeRead(first)}${more}`;
}

function describeChange(name: string, before: string, after: string): TextChange {
  if (name !== 'command') return describeTextChange(before, after);
  const [old, now] = [JSON.parse(before) as string[], JSON.parse(after) as string[]];
  const changed = now.flatMap((word, index) => (word === old[index] ? [] : [index]));
  const [only] = changed;
  const isOne = old.length === now.length && changed.length === 1;
  if (isOne && (now[only!]!.includes('\n') || old[only!]!.includes('\n')))
    return describeTextChange(old[only!]!, now[only!]!);
  return describeTextChange(old.join(' ').replaceAll('\n', ' '), now.join(' ').replaceAll('\n', ' '));
}

function describeRead({ name, before, after }: ReadValue): string {
  const subject = nameOfRead(name);
  if (name[0] === 'run' && name[1] === 'id') return 'it contains the ID of the run';
  if (before === undefined || after === undefined) return `${subject} is known in one run only`;
  const { line, ...sides } = describeTextChange(textOf(before), textOf(after));
  return `${line === undefined ? '' : `line ${line} of `}${subject} ${changeWords(sides)}`;
}

function nameOfRead([root, first = '', kind, last = '']: readonly string[]): string {
  if (root === 'params') return `parameter ${first}`;
  if (root === 'run') return 'the planned time of the run';
  return kind === 'status' ? `the status of ${first}` : `result '${last}' of ${first}`;
}

function textOf(value: Json | undefined): string {
  return typeof value === 'string' ? value : (JSON.stringify(value) ?? '');
}

function shorten(text: string): string {
  return describeTextChange(text, '').before ?? '';
}

interface Subject {
  readonly kind: PartDifference['kind'];
  readonly subject: string;
}

function subjectOf(step: Step, { name, reads }: ChangedPart): Subject {
  const fixed = own(FIXED, name);
  // Then its digest differs.
  if (name === 'image' && reads?.length === 0) return { kind: 'image', subject: `its image ${step.image}` };
  if (fixed !== undefined) return fixed;
  const [group = '', ...words] = name.split('.');
  const rest = words.join('.');
  const stem = rest.replace(/\.\w+$/, '');
  switch (group) {
    case 'env': {
      const isOfScript = name.startsWith(SCRIPT_VALUE);
      const subject = isOfScript ? `the value of ${own(step.env, rest) ?? rest} in its script` : `its variable ${rest}`;
      return { kind: 'variable', subject };
    }
    case 'secrets':
      return { kind: 'secret', subject: `the name of the secret in its variable ${rest}` };
    case 'matrix':
      return { kind: 'matrix', subject: `the value of its axis ${rest}` };
    case 'inputs':
      return {
        kind: 'input',
        subject: rest.endsWith('.path')
          ? `the mount path of its input '${stem}'`
          : `write access to its input '${stem}'`,
      };
    case 'outputs':
      return {
        kind: 'output',
        subject: rest.endsWith('.path') ? `the path of its output '${stem}'` : `what its output '${stem}' must contain`,
      };
    case 'results':
      return { kind: 'result', subject: `the declaration of its result '${rest}'` };
    default:
      return { kind: 'other', subject: `its ${name}` };
  }
}

const FIXED: Readonly<Record<string, Subject>> = {
  image: { kind: 'image', subject: 'its image' },
  command: { kind: 'command', subject: 'its command' },
  key: { kind: 'key', subject: 'its cache key' },
  item: { kind: 'item', subject: 'its item' },
  cell: { kind: 'other', subject: 'the name of the cell' },
  pipeline: { kind: 'other', subject: 'the name of its pipeline' },
  step: { kind: 'other', subject: 'the name of the step' },
  tasks: { kind: 'other', subject: 'its number of tasks' },
  replicate: { kind: 'other', subject: 'its number among equal cells' },
};
