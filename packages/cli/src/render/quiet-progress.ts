import type { Terminal } from '../context/terminal.ts';
import type { Progress } from './plain-progress.ts';

/** Prints no events. The report of a run that has not succeeded repeats its warnings. */
export function createQuietProgress(terminal: Terminal): Progress {
  return { report: () => {}, print: (text) => terminal.err(text), close: () => {} };
}
