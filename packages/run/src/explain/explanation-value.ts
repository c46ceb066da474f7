import type { z } from 'zod';
import { renderTimes } from '../report/json-times.ts';
import type { CellExplanation, cellExplanation } from '../schemas/explanation.ts';

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
