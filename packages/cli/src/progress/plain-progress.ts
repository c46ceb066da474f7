import type { Reporter } from '@sluice/runner';
import type { GlobalOptions } from '../context/command-context.ts';
import type { Terminal } from '../context/terminal.ts';
import { createLineBuffer } from './line-buffer.ts';
import { createProgressModel } from './progress-model.ts';
import { labelWidthOf, renderEvent } from './render-event.ts';

/** A reporter that shows progress; what else is to be said meanwhile goes through it, so that it disturbs no picture. */
export interface Progress extends Reporter {
  /** Says something that is no event, without its newline. */
  print(text: string): void;
  /** Leaves the screen as it should stay. */
  close(): void;
}

/** One line for each thing that has happened, for pipes and log files. */
export function createPlainProgress(terminal: Terminal, options: GlobalOptions): Progress {
  const model = createProgressModel();
  const lines = createLineBuffer(terminal.out);
  let labelWidth = 0;
  return {
    report: (event) => {
      if (event.type === 'runStarted') labelWidth = labelWidthOf(event.steps);
      lines.add(renderEvent(event, { model, terminal, labelWidth, options }));
    },
    print: (text) => {
      lines.write();
      terminal.err(`${text}\n`);
    },
    close: lines.write,
  };
}
