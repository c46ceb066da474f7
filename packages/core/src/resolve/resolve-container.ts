import { hasExpression } from '../expressions/split-template.ts';
import type { Step } from '../model/pipeline.ts';
import type { Cell, Plan } from '../model/plan.ts';
import { ok, type Result } from '../model/result.ts';
import type { ResolvedContainer, RunContext } from '../model/run-context.ts';
import { type ContextFor, evaluateText } from './evaluate.ts';
import { expressionContext } from './expression-context.ts';

/** Evaluates every expression of one cell's container. The error says which could not be evaluated, and why. */
export function resolveContainer(
  plan: Plan,
  step: number,
  options: { readonly cell: Cell; readonly context: RunContext },
): Result<ResolvedContainer, string> {
  const planned = plan.steps[step]?.step;
  if (planned === undefined) throw new RangeError(`the plan of ${plan.pipeline.name} has no step ${step}`);
  const { cell, context } = options;
  const variables = resolveEnv(planned, expressionContext(plan, context, { step, cell }));
  if (!variables.ok) return variables;
  const { env, secrets } = variables.value;
  const contextFor = expressionContext(plan, context, { step, cell, env });
  const text = (template: string | undefined, key: string): Result<string | undefined, string> =>
    template === undefined
      ? ok(undefined)
      : evaluateText(template, `\`${key}\` of step \`${planned.name}\``, contextFor);
  const image = text(planned.image, 'image');
  if (!image.ok) return image;
  const instanceType = text(planned.instanceType, 'instanceType');
  if (!instanceType.ok) return instanceType;
  const words = (templates: readonly string[], key: string): Result<readonly string[], string> => {
    const found: string[] = [];
    for (const template of templates) {
      const word = text(template, key);
      if (!word.ok) return word;
      found.push(word.value ?? '');
    }
    return ok(found);
  };
  const command = words(planned.command ?? [], 'command');
  if (!command.ok) return command;
  const check = planned.service?.ready;
  const ready = words(check !== undefined && 'command' in check ? check.command : [], 'service');
  if (!ready.ok) return ready;
  return ok({
    // A parameter may leave the image out by being empty: the engine's own file system is the image then.
    ...(image.value && { image: image.value }),
    ...(planned.command !== undefined && { command: command.value }),
    ...(ready.value.length > 0 && { ready: ready.value }),
    env,
    secrets,
    ...(instanceType.value !== undefined && { instanceType: instanceType.value }),
    ...(planned.resources !== undefined && { resources: planned.resources }),
    ports: planned.ports,
    inputs: Object.entries(planned.inputs).map(([name, { from, path }]) => ({ name, from, path })),
    outputs: Object.entries(planned.outputs).map(([name, { path }]) => ({ name, path })),
    results: Object.entries(planned.results).map(([name, result]) => ({ name, ...result })),
  });
}

const SECRET = /^\s*\$\{\{\s*secrets(?:\.(\w+)|\[(?:'(\w+)'|"(\w+)")\])\s*\}\}\s*$/;

function resolveEnv(step: Step, contextFor: ContextFor): Result<Pick<ResolvedContainer, 'env' | 'secrets'>, string> {
  const env: Record<string, string> = {};
  const secrets = step.secrets.map((secret) => ({ env: secret, secret }));
  for (const name of Object.keys(step.env).sort()) {
    const template = step.env[name] ?? '';
    const match = hasExpression(template) ? SECRET.exec(template) : null;
    if (match !== null) {
      secrets.push({ env: name, secret: match[1] ?? match[2] ?? match[3] ?? '' });
      continue;
    }
    const value = evaluateText(template, `the variable ${name} of step \`${step.name}\``, contextFor);
    if (!value.ok) return value;
    env[name] = value.value;
  }
  return ok({ env, secrets: secrets.sort((a, b) => (a.env < b.env ? -1 : a.env > b.env ? 1 : 0)) });
}
