import type { Diagnostic } from '../model/diagnostic.ts';
import type { Json } from '../model/json.ts';
import type { Pipeline } from '../model/pipeline.ts';
import type { Plan } from '../model/plan.ts';
import { fail, type Result } from '../model/result.ts';

/** Binds parameters (texts are converted by their parameter's type), expands matrices and joins the edges. */
export function createPlan(
  pipeline: Pipeline,
  options: { readonly params?: Readonly<Record<string, Json>> } = {},
): Result<Plan, readonly Diagnostic[]> {
  return fail([
    { code: 'unfinished', severity: 'error', message: `could not plan ${pipeline.name} ${String(options.params)}` },
  ]);
}
