import { type Check, pathInStep } from './check-context.ts';

/** Where the runner keeps an attempt's results and the sign that a service is ready, beside its outputs. */
const RESERVED: ReadonlySet<string> = new Set(['_results', '_ready']);

/** No output takes a name that the runner needs for itself. */
export const checkOutputs: Check = (context) => {
  for (const checked of context.steps.values()) {
    for (const name in checked.step.outputs) {
      if (!RESERVED.has(name)) continue;
      const message = `the name of output \`${name}\` of step \`${checked.step.name}\` is reserved`;
      const path = pathInStep(context, checked, ['outputs', name]);
      context.report({
        code: 'bad-name',
        message,
        path,
        on: 'key',
        hint: 'choose a name that does not begin with `_`',
      });
    }
  }
};
