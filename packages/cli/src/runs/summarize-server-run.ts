import type { RunSummary } from '@sluice/run';
import type { ServerRun } from '../connect/run-server.ts';

/** A run in the list of a server, as the home lists its own. */
export function summarizeServerRun({ createdAt, startedAt, endedAt, ...run }: ServerRun): RunSummary {
  return {
    ...run,
    createdAt: Date.parse(createdAt),
    ...(startedAt !== undefined && { startedAt: Date.parse(startedAt) }),
    ...(endedAt !== undefined && { endedAt: Date.parse(endedAt) }),
  };
}
