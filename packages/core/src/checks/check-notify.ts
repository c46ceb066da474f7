import type { Check } from './check-context.ts';

/** A notification says how it is sent, once. */
export const checkNotify: Check = ({ pipeline, raw, report }) => {
  for (const [index, { webhook, command }] of pipeline.notify.entries()) {
    const path = Array.isArray(raw.notify) ? ['notify', index] : ['notify'];
    if (webhook !== undefined && command !== undefined) {
      const message = 'the notification has both `webhook` and `command`';
      report({ code: 'conflicting-keys', message, path: [...path, 'command'], on: 'key', hint: 'write two of them' });
    } else if (webhook === undefined && (command === undefined || command.length === 0)) {
      const message = 'the notification does not say how it is sent';
      report({ code: 'nothing-to-run', message, path, on: 'key', hint: 'give it `webhook` or `command`' });
    }
  }
};
