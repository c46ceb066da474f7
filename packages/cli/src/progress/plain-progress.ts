import type { Reporter } from '@sluice/runner';
import type { Terminal } from '../terminal.ts';
import { createProgressModel } from './progress-model.ts';
import { labelWidthOf, renderEvent } from './render-event.ts';

/** A reporter that shows progress to people; `close` leaves the screen as it should stay. */
export interface Progress extends Reporter {
  close(): void;
}

/** One line for each thing that has happened, for pipes and log files. */
export function createPlainProgress(terminal: Terminal): Progress {
  const model = createProgressModel();
  let labelWidth = 0;
  return {
    report: (event) => {
      if (event.type === 'runStarted') labelWidth = labelWidthOf(event.steps);
      terminal.out(renderEvent(event, { move: model.apply(event), terminal, labelWidth }));
    },
    close: () => {},
  };
}
