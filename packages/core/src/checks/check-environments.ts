import { findEnvironment } from '../parse/add-environments.ts';
import { RECIPES } from '../parse/environments.ts';
import type { RawStep } from '../schema/step-schema.ts';
import { type Check, pathInStep } from './check-context.ts';

/** The environment of a step is an input of it, with a name and a mount point of its own. */
export const checkEnvironments: Check = (context) => {
  const defaults = context.raw.defaults as RawStep | undefined;
  for (const checked of context.steps.values()) {
    const { step, raw } = checked;
    const found = findEnvironment(raw, defaults);
    if (found === undefined) continue;
    const { kind } = found.environment;
    const { path: mountPoint } = RECIPES[kind];
    for (const section of ['inputs', 'outputs'] as const) {
      for (const [key, mount] of Object.entries(step[section])) {
        const isNamed = section === 'inputs' && key === kind;
        if (!isNamed && !`${mount.path}/`.startsWith(`${mountPoint}/`)) continue;
        const has = isNamed ? `an input \`${key}\`` : `\`${section}.${key}\` at ${mount.path}`;
        context.report({
          code: 'conflicting-keys',
          message: `step \`${step.name}\` has both \`${kind}\`, which is mounted at ${mountPoint}, and ${has}`,
          path: pathInStep(context, checked, [section, key]),
          on: 'key',
          related: [{ message: `\`${kind}\` is set here`, path: pathInStep(context, checked, [kind]), on: 'key' }],
        });
      }
    }
  }
};
