import { printableData } from '@sluice/run';
import type { GlobalOptions } from '../context/command-context.ts';
import type { Terminal } from '../context/terminal.ts';
import { createJsonProgress } from './json-progress.ts';
import { createLiveProgress } from './live-progress.ts';
import { createPlainProgress, type Progress } from './plain-progress.ts';
import { createQuietProgress } from './quiet-progress.ts';

/** JSON lines with `--json`, nothing with `--quiet`, a live display on a terminal, plain lines otherwise. */
export function createProgress(terminal: Terminal, options: GlobalOptions & { readonly quiet?: boolean }): Progress {
  if (options.quiet === true) return createQuietProgress(terminal);
  if (options.json === true) return createJsonProgress(terminal);
  const progress = terminal.live ? createLiveProgress(terminal, options) : createPlainProgress(terminal, options);
  return { ...progress, report: (event) => progress.report(printableData(event)) };
}
