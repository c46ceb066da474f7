import { own } from '../model/own.ts';
import type { Check } from './check-context.ts';

/** A container has these labels and those of Sluice; a service accepts a hundred labels with 4,096 characters each. */
const MOST = 90;
const LONGEST = 4096;

/** The labels are valid for containers and do not replace the labels by which Sluice finds a run. */
export const checkLabels: Check = ({ pipeline: { labels }, report }) => {
  const names = Object.keys(labels);
  if (names.length > MOST) {
    const message = `the pipeline has ${names.length} labels; the maximum is ${MOST}`;
    report({ code: 'out-of-range', message, path: ['labels'], on: 'key' });
  }
  for (const name of names) {
    const path = ['labels', name];
    if (name.startsWith('sluice-')) {
      const message = `the label \`${name}\` is reserved: Sluice identifies runs by such labels`;
      report({ code: 'bad-name', message, path, on: 'key', hint: 'choose a name that does not begin with `sluice-`' });
    } else if ((own(labels, name)?.length ?? 0) > LONGEST) {
      report({
        code: 'out-of-range',
        message: `the value of label \`${name}\` is longer than ${LONGEST} characters`,
        path,
      });
    }
  }
};
