import type { Reporter } from '@sluice/run';
import type { GlobalOptions } from '../context/command-context.ts';
import type { Terminal } from '../context/terminal.ts';
import { createLineBuffer } from './line-buffer.ts';
import { createProgressModel } from './progress-model.ts';
import { labelWidthOf, renderEvent } from './render-event.ts';

/**
 * A reporter that shows progress. Other messages during a run also go through it, so that they do not damage the
 * display.
 */
export interface Progress extends Reporter {
  /** Prints a message that is not an event, on one line. */
  print(text: string): void;
  /** Draws the final state; nothing may be reported afterwards. */
  close(): void;
}

/** Prints one line per event, for pipes and log files. */
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
      terminal.err(text);
    },
    close: lines.write,
  };
}
