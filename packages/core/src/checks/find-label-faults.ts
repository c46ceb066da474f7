import { own } from '../model/own.ts';
import { TEXT } from '../schema/patterns.ts';
import type { Fault } from './fault.ts';

/** A container has these labels and those of Sluice; a service accepts a hundred labels with 4,096 characters each. */
const MOST = 90;
const LONGEST_NAME = 256;
const LONGEST = 4096;

/** Why labels are not valid for containers, or replace the labels by which Sluice finds a run. */
export function findLabelFaults(labels: Readonly<Record<string, string>>): readonly Fault[] {
  const names = Object.keys(labels);
  const message = `the pipeline has ${names.length} labels; the maximum is ${MOST}`;
  const all: Fault[] = names.length > MOST ? [{ code: 'out-of-range', message, path: ['labels'], on: 'key' }] : [];
  return [...all, ...names.flatMap((name) => findFaults(name, own(labels, name) ?? ''))];
}

function findFaults(name: string, value: string): readonly Fault[] {
  const path = ['labels', name];
  if (name.startsWith('sluice-')) {
    const message = `the label \`${name}\` is reserved: Sluice identifies runs by such labels`;
    return [{ code: 'bad-name', message, path, on: 'key', hint: 'choose a name that does not begin with `sluice-`' }];
  }
  if (name.length > LONGEST_NAME) {
    const message = `the name of label \`${name.slice(0, 32)}…\` is longer than ${LONGEST_NAME} characters`;
    return [{ code: 'out-of-range', message, path, on: 'key' }];
  }
  if (value.length > LONGEST) {
    const message = `the value of label \`${name}\` is longer than ${LONGEST} characters`;
    return [{ code: 'out-of-range', message, path }];
  }
  if (TEXT.test(name) && TEXT.test(value)) return [];
  return [{ code: 'wrong-value', message: 'a label must not contain NUL characters', path }];
}
