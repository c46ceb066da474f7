import { type Check, pathInStep } from './check-context.ts';

/** The runner stores an attempt's results and a service's readiness mark here, beside the outputs. */
const RESERVED: ReadonlySet<string> = new Set(['_results', '_ready']);

/** No output has a name that the runner reserves. */
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
