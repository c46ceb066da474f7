import { own } from '@sluice/core';
import type { RunSummary } from '../schemas/run-entry.ts';
import type { RunPhase } from '../schemas/statuses.ts';

/** Which runs of a list are wanted; times in milliseconds since the Unix epoch. Absent: any. */
export interface RunFilter {
  /** Empty: any. */
  readonly statuses?: readonly RunPhase[];
  readonly pipeline?: string;
  /** `NAME=VALUE` or `NAME`; of several, all. */
  readonly labels?: readonly string[];
  readonly createdAfter?: number;
  readonly createdBefore?: number;
}

/** Whether a run is wanted. */
export function matchesFilter(run: RunSummary, filter: RunFilter): boolean {
  const { statuses = [], pipeline = run.pipeline, labels = [] } = filter;
  const { createdAfter = Number.NEGATIVE_INFINITY, createdBefore = Number.POSITIVE_INFINITY } = filter;
  return (
    (statuses.length === 0 || statuses.includes(run.status)) &&
    run.pipeline === pipeline &&
    run.createdAt > createdAfter &&
    run.createdAt < createdBefore &&
    labels.every((label) => hasLabel(run.labels, label))
  );
}

function hasLabel(labels: RunSummary['labels'] = {}, wanted: string): boolean {
  const [name = '', ...value] = wanted.split('=');
  const found = own(labels, name);
  return found !== undefined && (value.length === 0 || found === value.join('='));
}
