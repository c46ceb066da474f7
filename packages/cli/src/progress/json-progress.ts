import type { Terminal } from '../terminal.ts';
import type { Progress } from './plain-progress.ts';

/** Every event as one line of JSON, for programs. */
export function createJsonProgress(terminal: Terminal): Progress {
  return {
    report: (event) => terminal.out(`${JSON.stringify(event)}\n`),
    say: (text) => terminal.err(`${text}\n`),
    close: () => {},
  };
}
