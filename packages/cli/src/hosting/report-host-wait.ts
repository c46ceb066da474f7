import type { HostReplyWait } from '@sluice/host';
import { createWaitReporter } from '../connect/report-wait.ts';
import type { Terminal } from '../context/terminal.ts';

/** Says on standard error that the process that hosts the runs of a home does not reply, as for a service. */
export function createHostWaitReporter(terminal: Pick<Terminal, 'err'>, home: string): (wait: HostReplyWait) => void {
  const report = createWaitReporter(terminal, `the process that hosts the runs of ${home}`);
  return ({ process, waitedMs }) => report({ origin: home, what: process, waitedMs });
}
