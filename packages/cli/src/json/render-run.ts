import type { RunSummary } from '@sluice/runner';
import { renderValue } from './render-value.ts';

/** A run as a line of JSON. */
export function renderRun({ startedAt, endedAt, status, ...run }: RunSummary): string {
  return renderValue('run', {
    ...run,
    status: status === 'active' ? 'running' : status,
    startedAt: new Date(startedAt).toISOString(),
    ...(endedAt !== undefined && { endedAt: new Date(endedAt).toISOString() }),
  });
}
