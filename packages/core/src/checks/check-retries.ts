import type { Check } from './check-context.ts';
import { pathInStep } from './check-context.ts';

/** A retry can take effect, and its backoff does not shrink. */
export const checkRetries: Check = (context) => {
  const { report } = context;
  for (const checked of context.steps.values()) {
    const { retry, name } = checked.step;
    const raw = checked.raw.retry ?? context.raw.defaults?.retry;
    if (typeof raw !== 'object') continue;
    const at = (...keys: string[]) => pathInStep(context, checked, ['retry', ...keys]);
    if (retry.exitCodes !== undefined && !retry.on.includes('failed')) {
      const message = `\`retry.exitCodes\` of step \`${name}\` has no effect because \`on\` does not include \`failed\``;
      report({
        code: 'unsatisfiable-retry',
        message,
        path: at('exitCodes'),
        hint: 'add `failed` to `on`, or remove `exitCodes`',
      });
    }
    if (retry.exitCodes?.includes(0)) {
      report({
        code: 'unsatisfiable-retry',
        message: `\`retry.exitCodes\` of step \`${name}\` includes 0, which means success`,
        path: at('exitCodes'),
      });
    }
    if (retry.limit === 0 && retry.escalate.length > 0) {
      report({
        code: 'unsatisfiable-retry',
        message: `\`retry.escalate\` of step \`${name}\` has no effect because \`limit\` is 0`,
        path: at('escalate'),
      });
    }
    for (const [index, level] of retry.escalate.entries()) {
      if (typeof level !== 'string' || !level.includes('${{')) continue;
      report({
        code: 'unsatisfiable-retry',
        message: `level ${index + 1} of \`retry.escalate\` of step \`${name}\` has an expression, which the name of an instance type cannot have`,
        path: [...at('escalate'), index],
        hint: 'request resources, which can have expressions: `{ memory: "${{ … }}" }`',
      });
    }
    // Of a backoff with expressions, `valuesOfCell` compares the values.
    if (checked.step.perCell?.retry?.backoff === undefined && retry.backoff.maxMs < retry.backoff.initialMs) {
      const message = `\`retry.backoff\` of step \`${name}\` has a \`max\` below its \`initial\``;
      report({ code: 'unsatisfiable-retry', message, path: at('backoff', 'max') });
    }
  }
};
