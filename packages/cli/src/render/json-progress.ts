import type { Terminal } from '../context/terminal.ts';
import { renderRunEvent } from '../json/render-run-event.ts';
import { createLineBuffer } from './line-buffer.ts';
import type { Progress } from './plain-progress.ts';

/** Prints every event as one line of JSON; other messages go to stderr. */
export function createJsonProgress(terminal: Terminal): Progress {
  const lines = createLineBuffer(terminal.out);
  return {
    report: (event) => lines.add(renderRunEvent(event)),
    print: (text) => {
      lines.write();
      terminal.err(text);
    },
    close: lines.write,
  };
}
