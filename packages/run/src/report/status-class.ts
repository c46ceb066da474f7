import type { StatusReport } from '../schemas/status.ts';

/** The class of the page's style sheet for a status. */
export function statusClass({ status, reused }: StatusReport): string {
  return reused ? 'reused' : status;
}
