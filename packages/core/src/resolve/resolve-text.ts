import type { Template } from '../model/pipeline.ts';
import type { Plan } from '../model/plan.ts';
import type { Result } from '../model/result.ts';
import type { RunContext } from '../model/run-context.ts';
import { evaluateText } from './evaluate.ts';
import { expressionContext } from './expression-context.ts';

/** Evaluates a template that belongs to no step: a concurrency group, a notification, an approval's message. */
export function resolveText(plan: Plan, template: Template, context: RunContext): Result<string, string> {
  return evaluateText(template, `the text ${JSON.stringify(template)}`, expressionContext(plan, context, {}));
}
