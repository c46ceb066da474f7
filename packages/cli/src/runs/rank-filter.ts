import type { LogRenderer } from '../json/render-log.ts';

/**
 * Passes on the lines of one task of a step with several, without the rank with which each line of such a log begins. Engines
 * fill it up with zeros to the same width.
 */
export function filterRank(rank: number, to: LogRenderer): LogRenderer {
  const label = new RegExp(`^0*${rank}: `);
  let rest = '';
  const select = (text: string) => {
    const own = text.split(/(?<=\n)/).filter((line) => label.test(line));
    return own.map((line) => line.replace(label, '')).join('');
  };
  const pass = (text: string) => (text === '' ? '' : to.add(text));
  return {
    add(text) {
      const end = text.lastIndexOf('\n') + 1;
      if (end === 0) {
        rest += text;
        return '';
      }
      const whole = rest + text.slice(0, end);
      rest = text.slice(end);
      return pass(select(whole));
    },
    end: () => pass(select(rest)) + to.end(),
  };
}
