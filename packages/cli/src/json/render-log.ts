import type { JsonValue } from './json-values.ts';
import { renderValue } from './render-value.ts';

/** Converts the text of a log to text that is printed. */
export interface LogRenderer {
  add(text: string): string;
  /** What remains after the end of the log. */
  end(): string;
}

/** Prints each line of a log as a value. Text without a newline at the end of the log is a line too. */
export function createLogRenderer(log: Omit<JsonValue<'logLine'>, 'text'>): LogRenderer {
  let open = '';
  const render = (text: string) => renderValue('logLine', { ...log, text });
  return {
    add(text) {
      const [first = '', ...others] = text.split('\n');
      open += first;
      const last = others.pop();
      if (last === undefined) return '';
      const lines = [open, ...others];
      open = last;
      return lines.map(render).join('');
    },
    end: () => (open === '' ? '' : render(open)),
  };
}
