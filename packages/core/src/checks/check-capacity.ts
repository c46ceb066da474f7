import { own } from '../model/own.ts';
import type { Step } from '../model/pipeline.ts';
import { collectDependencies } from '../plan/collect-dependencies.ts';
import { type Check, type CheckContext, type CheckedStep, pathInStep } from './check-context.ts';

/** Services run as long as their dependents, so together they must fit into `parallelism` and the pools. */
export const checkCapacity: Check = (context) => {
  if (![...context.steps.values()].some(({ step }) => step.service !== undefined)) return;
  const found = neededServices(context);
  for (const checked of context.steps.values()) {
    const services = [...(found.get(checked.step.name) ?? [])];
    if (services.length > 0 && checked.step.approval === undefined) checkStep(context, checked, services);
  }
};

function checkStep(context: CheckContext, checked: CheckedStep, services: readonly CheckedStep[]): void {
  const { pipeline, report } = context;
  const { step } = checked;
  const names = services.map((service) => `\`${service.step.name}\``).join(', ');
  const { parallelism } = pipeline;
  if (parallelism !== undefined && services.length + 1 > parallelism) {
    const message = `step \`${step.name}\` can never start: it needs ${names} to be running, and \`parallelism\` is only ${parallelism}`;
    report({ code: 'never-starts', message, path: checked.path, on: 'key' });
  }
  for (const [pool, size] of Object.entries(pipeline.pools)) {
    const wanted = slotsOf(step, pool);
    const held = services.reduce((sum, service) => sum + slotsOf(service.step, pool), 0);
    if (wanted === 0 || wanted > size || wanted + held <= size) continue;
    const message = `step \`${step.name}\` can never start: together with ${names}, it needs ${wanted + held} slots of pool \`${pool}\`, which has ${size}`;
    report({ code: 'never-starts', message, path: pathInStep(context, checked, ['pools', pool]) });
  }
}

function slotsOf(step: Step, pool: string): number {
  return own(step.pools, pool) ?? 0;
}

/** By step: the services that run during it, including those that its services need. */
function neededServices({ pipeline, steps }: CheckContext): ReadonlyMap<string, ReadonlySet<CheckedStep>> {
  const all = [...pipeline.steps, ...pipeline.finally];
  const dependencies = collectDependencies(pipeline);
  const index = new Map(all.map(({ name }, at) => [name, at]));
  const found = new Map<string, Set<CheckedStep>>();
  for (const { name } of all) {
    const needed = new Set<CheckedStep>();
    const open = [name];
    for (let next = open.pop(); next !== undefined; next = open.pop()) {
      for (const { on, condition } of dependencies[index.get(next)!] ?? []) {
        const service = steps.get(all[on]!.name);
        const runs = condition === 'succeeded' || condition === 'running';
        if (!runs || service?.step.service === undefined || needed.has(service)) continue;
        if (service.final !== steps.get(name)?.final || service.step.name === name) continue;
        needed.add(service);
        open.push(service.step.name);
      }
    }
    found.set(name, needed);
  }
  return found;
}
