import { hash } from 'node:crypto';

/** A run, or what a span of it is about. Without `step`: the run itself; without `cell`: the whole step. */
export interface TracedPart {
  readonly runId: string;
  readonly step?: string;
  /** Key of the cell, `''` for a plain step. */
  readonly cell?: string;
  readonly attempt?: number;
}

/** The trace of a run, 32 hexadecimal digits: the same in each process that executes it. */
export function traceIdOf(runId: string): string {
  return hash('sha256', runId).slice(0, 32);
}

/** The span of a part, 16 hexadecimal digits: the same in each process, so that a span that is sent again is no second one. */
export function spanIdOf({ runId, step, cell, attempt }: TracedPart): string {
  return hash('sha256', JSON.stringify([runId, step, cell, attempt])).slice(0, 16);
}

/** The value of `TRACEPARENT` for the container of an attempt, as W3C Trace Context defines it. */
export function traceParentOf(attempt: Required<TracedPart>): string {
  return `00-${traceIdOf(attempt.runId)}-${spanIdOf(attempt)}-01`;
}
