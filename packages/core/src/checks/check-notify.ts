import type { Check } from './check-context.ts';

/** A notification has exactly one of `webhook` and `command`. */
export const checkNotify: Check = ({ pipeline, raw, report }) => {
  for (const [index, { webhook, command }] of pipeline.notify.entries()) {
    const path = Array.isArray(raw.notify) ? ['notify', index] : ['notify'];
    if (webhook !== undefined && command !== undefined) {
      const message = 'the notification has both `webhook` and `command`';
      report({
        code: 'conflicting-keys',
        message,
        path: [...path, 'command'],
        on: 'key',
        hint: 'write two notifications',
      });
    } else if (webhook === undefined && (command === undefined || command.length === 0)) {
      const message = 'the notification has neither `webhook` nor `command`';
      report({ code: 'nothing-to-run', message, path, on: 'key', hint: 'add `webhook` or `command`' });
    }
  }
};
