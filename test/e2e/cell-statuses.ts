import type { RunReportValue } from '@sluice/run';

/** By step: each cell with `reused` or its status, as `a reused, b succeeded`. */
export function cellStatuses({ steps }: Pick<RunReportValue, 'steps'>): Readonly<Record<string, string>> {
  return Object.fromEntries(
    steps.map(({ step, cells }) => [
      step,
      cells.map(({ cell, status, reused }) => `${cell} ${reused ? 'reused' : status}`).join(', '),
    ]),
  );
}
