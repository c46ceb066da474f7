import { type RunnerEvent, renderTimes, runReportValue } from '@sluice/run';
import { renderEventValue } from './render-event-value.ts';

/** An event of a run as one line of JSON. */
export function renderRunEvent(event: RunnerEvent): string {
  if (event.type !== 'runFinished') return renderEventValue(renderTimes(event));
  return renderEventValue({ ...renderTimes(event), report: runReportValue(event.report) });
}
