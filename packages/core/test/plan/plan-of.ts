import { createPlan, type Json, type Plan, parsePipeline } from '../../src/index.ts';

/** The plan of a pipeline file without its head. Throws what the checks say. */
export function planOf(body: string, params: Readonly<Record<string, Json>> = {}): Plan {
  const parsed = parsePipeline({ file: 'p.yaml', text: `version: 1\nname: demo\n${body}` });
  if (!parsed.ok) throw new Error(JSON.stringify(parsed.error));
  const plan = createPlan(parsed.value.pipeline, { params });
  if (!plan.ok) throw new Error(JSON.stringify(plan.error));
  return plan.value;
}
