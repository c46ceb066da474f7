import type { Check } from './check-context.ts';
import { pathInStep } from './check-context.ts';

/** Timeouts are positive, and none is shorter than one that it encloses. */
export const checkTimeouts: Check = (context) => {
  const { pipeline, report } = context;
  if (pipeline.timeoutMs === 0)
    report({ code: 'out-of-range', message: '`timeout` of the pipeline must be greater than 0', path: ['timeout'] });
  for (const checked of context.steps.values()) {
    const { timeoutMs, queueTimeoutMs, deadlineMs, resources, retry, approval, service, name } = checked.step;
    for (const [value, ...keys] of [
      [timeoutMs, 'timeout'],
      [queueTimeoutMs, 'queueTimeout'],
      [deadlineMs, 'deadline'],
      [service?.ready?.timeoutMs, 'service', 'ready', 'timeout'],
      [approval?.timeoutMs, 'approval', 'timeout'],
      [resources?.timeMs, 'resources', 'time'],
      ...retry.escalate.map(
        (level, index) =>
          [typeof level === 'string' ? undefined : level.timeMs, 'retry', 'escalate', index, 'time'] as const,
      ),
    ] as const) {
      if (value !== 0) continue;
      const message = `\`${keys.join('.').replace(/\.(\d+)/, '[$1]')}\` of step \`${name}\` must be greater than 0`;
      report({ code: 'out-of-range', message, path: pathInStep(context, checked, keys) });
    }
    if (deadlineMs !== undefined && timeoutMs !== undefined && deadlineMs < timeoutMs) {
      const message = `\`deadline\` of step \`${name}\` (for all attempts together) is shorter than \`timeout\` (for one attempt)`;
      report({ code: 'conflicting-times', message, path: pathInStep(context, checked, ['deadline']) });
    }
  }
};
