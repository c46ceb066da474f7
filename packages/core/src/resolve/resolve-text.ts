import { evaluateTogether } from '../expressions/evaluation-scope.ts';
import type { Cell, Plan } from '../model/plan.ts';
import type { Result } from '../model/result.ts';
import type { RunContext } from '../model/run-context.ts';
import type { Template } from '../model/template.ts';
import { evaluateText } from './evaluate.ts';
import { expressionContext } from './expression-context.ts';

/**
 * Evaluates a template outside a container: a concurrency group, a notification, the message of an approval; with
 * `cell`, a text of a step as far as it is known before the run; with `step` and `env`, also what its command can read.
 */
export function resolveText(
  plan: Plan,
  template: Template,
  context: RunContext & {
    readonly cell?: Cell;
    readonly step?: number;
    readonly env?: Readonly<Record<string, string>>;
  },
): Result<string, string> {
  const contextFor = expressionContext(plan, context, context);
  return evaluateTogether(plan, () => evaluateText(template, `the text ${JSON.stringify(template)}`, contextFor));
}

/**
 * Evaluates a template before any step has run, from parameters and, with `cell`, its matrix. Without `run`, the ID and
 * the planned time of the run are unknown.
 */
export function resolvePlannedText(
  plan: Plan,
  template: Template,
  given: { readonly run?: RunContext['run']; readonly cell?: Cell } = {},
): Result<string, string> {
  const run = given.run ?? { id: '', name: plan.pipeline.name, plannedTime: '' };
  return resolveText(plan, template, { ...given, run, attempt: 1, steps: () => undefined });
}
