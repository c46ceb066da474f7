import { evaluateTogether } from '../expressions/evaluation-scope.ts';
import { hasExpression } from '../expressions/split-template.ts';
import { own } from '../model/own.ts';
import type { Step } from '../model/pipeline.ts';
import type { Cell, Plan } from '../model/plan.ts';
import { ok, type Result } from '../model/result.ts';
import type { ResolvedContainer, RunContext } from '../model/run-context.ts';
import { type ContextFor, evaluateText } from './evaluate.ts';
import { expressionContext } from './expression-context.ts';
import { resolveInputs } from './resolve-inputs.ts';

/** Evaluates every expression of one cell's container. The error says which one failed, and why. */
export function resolveContainer(
  plan: Plan,
  step: number,
  options: ContainerOptions,
): Result<ResolvedContainer, string> {
  return evaluateTogether(plan, () => evaluateContainer(plan, step, options));
}

interface ContainerOptions {
  readonly cell: Cell;
  readonly context: RunContext;
}

function evaluateContainer(plan: Plan, step: number, options: ContainerOptions): Result<ResolvedContainer, string> {
  const planned = plan.steps[step]?.step;
  if (planned === undefined) throw new RangeError(`the plan of ${plan.pipeline.name} has no step ${step}`);
  const { cell, context } = options;
  const declared = resolveEnv(planned, {
    contextFor: expressionContext(plan, context, { step, cell }),
    isOfScript: false,
  });
  if (!declared.ok) return declared;
  const { secrets } = declared.value;
  const contextFor = expressionContext(plan, context, { step, cell, env: declared.value.env });
  const scripted = resolveEnv(planned, { contextFor, isOfScript: true });
  if (!scripted.ok) return scripted;
  // A literal that begins with `...declared` would have a hidden class of its own, for each cell.
  const env = Object.assign({}, declared.value.env, scripted.value.env);
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
  const inputs = resolveInputs(plan, step, cell);
  if (!inputs.ok) return inputs;
  const check = planned.service?.ready;
  const ready = words(check !== undefined && 'command' in check ? check.command : [], 'service');
  if (!ready.ok) return ready;
  return ok({
    env,
    secrets,
    // An empty image, for example from a parameter, selects the engine's own file system.
    ...(image.value && { image: image.value }),
    ...(planned.command !== undefined && { command: command.value }),
    ...(ready.value.length > 0 && { ready: ready.value }),
    ...(instanceType.value !== undefined && { instanceType: instanceType.value }),
    ports: planned.ports,
    inputs: inputs.value,
    outputs: Object.entries(planned.outputs).map(([name, { retain: _, temporary: __, ...output }]) => ({
      name,
      ...output,
    })),
    results: Object.entries(planned.results).map(([name, result]) => ({ name, ...result })),
  });
}

const SECRET = /^\s*\$\{\{\s*secrets(?:\.(\w+)|\[(?:'(\w+)'|"(\w+)")\])\s*\}\}\s*$/;

/**
 * Resolves either the variables that the step declares, or those with the values of its script's expressions, which can
 * read the declared ones as `env`.
 */
function resolveEnv(
  step: Step,
  { contextFor, isOfScript }: { readonly contextFor: ContextFor; readonly isOfScript: boolean },
): Result<Pick<ResolvedContainer, 'env' | 'secrets'>, string> {
  const env: Record<string, string> = {};
  const secrets = step.secrets.map((secret) => ({ env: secret, secret }));
  for (const name of Object.keys(step.env).sort()) {
    if (name.startsWith('SLUICE_ARG_') !== isOfScript) continue;
    const template = own(step.env, name) ?? '';
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
