import { type Executor, type RunSummary, renderTimes } from '@sluice/run';
import { renderValue } from './render-value.ts';

/** A run as a line of JSON. */
export function renderRun(run: RunSummary, executor: Executor): string {
  const { runId, pipeline, status, ...rest } = renderTimes(run);
  return renderValue('run', { runId, pipeline, status, executor, ...rest });
}
