import { findPathFault } from '../checks/find-path-fault.ts';
import { hasExpression } from '../expressions/split-template.ts';
import type { Input } from '../model/pipeline.ts';
import type { Cell, Plan } from '../model/plan.ts';
import { fail, ok, type Result } from '../model/result.ts';
import { resolvePlannedText } from './resolve-text.ts';

/** The inputs of a step for one cell, with the paths in their sources evaluated. */
export function resolveInputs(
  plan: Plan,
  step: number,
  cell: Cell,
): Result<readonly ({ readonly name: string } & Input)[], string> {
  const { inputs, name: stepName } = plan.steps[step]!.step;
  const resolved: ({ readonly name: string } & Input)[] = [];
  for (const [name, input] of Object.entries(inputs)) {
    const sources = [input.from, ...(input.or ?? [])];
    if (!sources.some(({ path = '' }) => hasExpression(path))) {
      resolved.push({ name, ...input });
      continue;
    }
    const what = `input \`${name}\` of step \`${stepName}\``;
    const evaluated: Input['from'][] = [];
    for (const source of sources) {
      const path = resolvePlannedText(plan, source.path ?? '', { cell });
      if (!path.ok) return fail(`${what}: ${path.error}`);
      const fault = path.value.includes('\0') ? 'contains a NUL' : findPathFault(path.value);
      if (fault !== undefined) return fail(`${what}: its path ${JSON.stringify(path.value)} ${fault}`);
      // A literal that begins with `...source` would have a hidden class of its own, for each cell.
      evaluated.push(Object.assign({}, source, { path: path.value }));
    }
    const [from, ...or] = evaluated as [Input['from'], ...NonNullable<Input['or']>];
    resolved.push({ name, ...input, from, ...(input.or && { or }) });
  }
  return ok(resolved);
}
