import type { Check } from './check-context.ts';
import { pathInStep } from './check-context.ts';

/** Times are more than nothing, and no limit is below one that it encloses. */
export const checkTimeouts: Check = (context) => {
  const { pipeline, report } = context;
  if (pipeline.timeoutMs === 0)
    report({ code: 'out-of-range', message: '`timeout` of the pipeline is 0', path: ['timeout'] });
  for (const checked of context.steps.values()) {
    const { timeoutMs, queueTimeoutMs, deadlineMs, name } = checked.step;
    if (timeoutMs === undefined && queueTimeoutMs === undefined && deadlineMs === undefined) continue;
    for (const [key, value] of [
      ['timeout', timeoutMs],
      ['queueTimeout', queueTimeoutMs],
      ['deadline', deadlineMs],
    ] as const) {
      if (value === 0)
        report({
          code: 'out-of-range',
          message: `\`${key}\` of step \`${name}\` is 0`,
          path: pathInStep(context, checked, [key]),
        });
    }
    if (deadlineMs !== undefined && timeoutMs !== undefined && deadlineMs < timeoutMs) {
      const message = `\`deadline\` of step \`${name}\` is for all attempts together, and is below \`timeout\`, which is for one`;
      report({ code: 'conflicting-times', message, path: pathInStep(context, checked, ['deadline']) });
    }
  }
};
