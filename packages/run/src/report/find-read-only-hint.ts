import { own, type Step } from '@sluice/core';

const READ_ONLY = /read-only file ?system|\bEROFS\b/i;
const ABSOLUTE_PATH = /(?:^|[\s'"`:=(])(\/[^\s'"`:,)]+)/g;

/** The hint for a program that failed because an input is read-only, judged by the last lines of its log. */
export function findReadOnlyHint(step: Pick<Step, 'inputs'>, logTail: readonly string[]): string | undefined {
  const inputs = Object.entries(step.inputs).filter(([, { writable }]) => !writable);
  if (inputs.length === 0) return undefined;
  for (const line of logTail) {
    if (!READ_ONLY.test(line)) continue;
    const paths = [...line.matchAll(ABSOLUTE_PATH)].map(([, path]) => path!);
    const named = inputs.find(([, input]) => paths.some((path) => isIn(path, input.path)));
    if (named) return advise([named[0]]);
    // An absolute path outside the inputs, for example in the image, is no input; a relative path may be one.
    if (paths.length === 0) return advise(inputs.map(([name]) => name));
  }
  return undefined;

  function advise(names: readonly string[]): string {
    const isOne = names.length === 1;
    const what = isOne
      ? `input ${names[0]} (${own(step.inputs, names[0]!)!.path}) is`
      : `the inputs ${names.join(', ')} are`;
    return `${what} read-only: set \`writable: true\` on ${isOne ? 'it' : 'the one that the step writes to'} for a private copy`;
  }
}

function isIn(path: string, directory: string): boolean {
  return path === directory || path.startsWith(`${directory}/`);
}
