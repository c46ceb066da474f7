import type { HttpServiceAddress } from '@sluice/client';
import type { GlobalOptions } from '../context/command-context.ts';
import type { Terminal } from '../context/terminal.ts';
import { plainLine } from '../text/plain-line.ts';
import { createWaitReporter } from './report-wait.ts';

/** Says on standard error which requests of a service wait and, with `--verbose`, how each was answered. */
export function reportRequests(
  terminal: Pick<Terminal, 'err'>,
  { verbose }: Pick<GlobalOptions, 'verbose'>,
): Pick<HttpServiceAddress, 'onWait' | 'onReply'> {
  const onWait = createWaitReporter(terminal);
  if (verbose !== true) return { onWait };
  return {
    onWait,
    onReply: ({ origin, what, status, tookMs }) =>
      terminal.err(plainLine(`${origin}: ${what}: ${status ?? 'no reply'} after ${tookMs} ms`)),
  };
}
