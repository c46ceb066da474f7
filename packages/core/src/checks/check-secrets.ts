import type { Check } from './check-context.ts';
import { pathInStep } from './check-context.ts';
import { namesOf } from './names-of.ts';
import { suggestName } from './nearest-name.ts';

/** A step uses only secrets that the pipeline declares. */
export const checkSecrets: Check = (context) => {
  const { pipeline, report } = context;
  for (const checked of context.steps.values()) {
    checked.step.secrets.forEach((secret, index) => {
      if (namesOf(pipeline.secrets).has(secret)) return;
      const message = `step \`${checked.step.name}\` uses the secret \`${secret}\`, which the pipeline does not declare under \`secrets\``;
      report({
        code: 'unknown-secret',
        lookedIn: ['secrets'],
        message,
        path: pathInStep(context, checked, ['secrets', index]),
        ...suggestName(secret, namesOf(pipeline.secrets)),
      });
    });
  }
};
