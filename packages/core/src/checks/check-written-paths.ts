import type { Check, CheckedStep } from './check-context.ts';
import { pathInStep } from './check-context.ts';
import { suggestName } from './nearest-name.ts';

/** The directories in which Sluice mounts what a step declares, with the key of the declarations. */
const PLACES = [
  ['/in/', 'inputs'],
  ['/out/', 'outputs'],
  ['/sluice/results/', 'results'],
] as const;
/** A path in one of them up to its next slash; not a part of another path, and not continued by an expression or pattern. */
const WRITTEN = /(?<![\w./:$}-])(\/in\/|\/out\/|\/sluice\/results\/)([A-Za-z0-9_][\w.-]*)(?![\w.*?[{$-])/g;

/** Reports paths of inputs, outputs and results that the step does not declare: such files are lost with the container. */
export const checkWrittenPaths: Check = (context) => {
  for (const checked of context.steps.values()) {
    const known = new Set<string>();
    const look = (text: unknown, ...keys: (string | number)[]): void => {
      if (typeof text !== 'string') return;
      for (const match of text.matchAll(WRITTEN)) {
        const [path, directory = '', name = ''] = match;
        if (known.has(path) || isDeclared(checked, directory, path)) continue;
        known.add(path);
        const key = PLACES.find(([place]) => place === directory)?.[1] ?? 'results';
        context.report({
          code: 'undeclared-path',
          severity: 'warning',
          message: `step \`${checked.step.name}\` uses ${path}, but declares no ${key.slice(0, -1)} there`,
          path: pathInStep(context, checked, keys),
          within: { text, start: match.index, end: match.index + path.length },
          hint: hintFor(checked, key, name),
        });
      }
    };
    const { script, command } = checked.raw;
    look(script, 'script');
    if (Array.isArray(command)) for (const [index, text] of command.entries()) look(text, 'command', index);
    else look(command, 'command');
  }
};

function isDeclared({ step }: CheckedStep, directory: string, path: string): boolean {
  if (directory === '/sluice/results/') {
    return Object.values(step.results).some(({ file }) => `${directory}${file}/`.startsWith(`${path}/`));
  }
  const mounts = [...Object.values(step.inputs), ...Object.values(step.outputs)];
  return mounts.some((mount) => `${mount.path}/`.startsWith(`${path}/`) || `${path}/`.startsWith(`${mount.path}/`));
}

function hintFor({ step }: CheckedStep, key: (typeof PLACES)[number][1], name: string): string {
  const { hint } = suggestName(name, Object.keys(step[key]));
  return hint ?? `declare it under \`${key}\` of the step`;
}
