import type { ContainerService } from '@sluice/client';
import { measureCalls } from '@sluice/host';
import type { Terminal } from '../context/terminal.ts';

/** The same embedded service, which says on standard error how each call has ended: in one process, there are no requests. */
export function reportCalls(service: ContainerService, terminal: Pick<Terminal, 'err'>): ContainerService {
  return measureCalls(service, ({ call, reply, seconds }) =>
    terminal.err(`embedded service: ${call}: ${reply} after ${Math.round(seconds * 1000)} ms`),
  );
}
