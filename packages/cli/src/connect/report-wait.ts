import type { ServiceWait } from '@sluice/client';
import type { Terminal } from '../context/terminal.ts';

/** Time between two lines, whatever the number of requests that wait. */
const PAUSE_MS = 10_000;

/** Says on standard error what a command waits for. `name` replaces the address of the service. */
export function createWaitReporter(terminal: Pick<Terminal, 'err'>, name?: string): (wait: ServiceWait) => void {
  let reportedAt = Number.NEGATIVE_INFINITY;
  return ({ origin, what, waitedMs }) => {
    if (performance.now() < reportedAt + PAUSE_MS) return;
    reportedAt = performance.now();
    terminal.err(`waiting for ${name ?? origin}: no reply for ${Math.round(waitedMs / 1000)} s (${what})`);
  };
}
