import type { Check } from './check-context.ts';
import { pathInStep } from './check-context.ts';

/** A retry that can never happen, or back-off that shrinks, is a mistake. */
export const checkRetries: Check = (context) => {
  const { report } = context;
  for (const checked of context.steps.values()) {
    const { retry, name } = checked.step;
    const raw = checked.raw.retry ?? context.raw.defaults?.retry;
    if (typeof raw !== 'object') continue;
    const at = (...keys: string[]) => pathInStep(context, checked, ['retry', ...keys]);
    if (retry.exitCodes !== undefined && !retry.on.includes('failed')) {
      const message = `\`retry\` of step \`${name}\` has exit codes, and \`on\` does not hold \`failed\`: only a step that failed by itself has one`;
      report({
        code: 'unsatisfiable-retry',
        message,
        path: at('exitCodes'),
        hint: 'add `failed` to `on`, or leave `exitCodes` out',
      });
    }
    if (retry.exitCodes?.includes(0)) {
      report({
        code: 'unsatisfiable-retry',
        message: `\`retry\` of step \`${name}\` names exit code 0, which is success`,
        path: at('exitCodes'),
      });
    }
    if (retry.limit === 0 && retry.escalate.length > 0) {
      report({
        code: 'unsatisfiable-retry',
        message: `\`retry\` of step \`${name}\` escalates, and its limit is 0`,
        path: at('escalate'),
      });
    }
    if (retry.backoff.maxMs < retry.backoff.initialMs) {
      const message = `the back-off of step \`${name}\` has a \`max\` below its \`initial\``;
      report({ code: 'unsatisfiable-retry', message, path: at('backoff', 'max') });
    }
  }
};
