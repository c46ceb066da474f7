import type { z } from 'zod';
import { renderTimes } from '../report/json-times.ts';
import type { CellExplanation, cellExplanation } from '../schemas/explanation.ts';
import type { OpenApproval, openApproval } from '../schemas/open-approval.ts';

/** What explains a cell, as JSON. */
export function explanationValue(explained: CellExplanation): z.input<z.ZodObject<typeof cellExplanation>> {
  const { wait, dependencies, upstream, rootCause, attempts, cache, history } = explained;
  return {
    ...(wait && { wait: renderTimes(wait) }),
    dependencies,
    ...(upstream && { upstream }),
    ...(rootCause && { rootCause }),
    attempts: attempts.map(renderTimes),
    cache,
    history: history.map(renderTimes),
  };
}

/** An open approval as JSON. */
export function approvalValue({ previous, ...approval }: OpenApproval): z.input<typeof openApproval> {
  return { ...approval, ...(previous && { previous: renderTimes(previous) }) };
}
