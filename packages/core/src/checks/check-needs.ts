import type { Path } from '../parse/source-document.ts';
import type { Check, CheckContext, CheckedStep } from './check-context.ts';
import { pathInStep } from './check-context.ts';
import { findEarlyRead } from './early-read.ts';

/** Every step in `needs` exists and can be a dependency, and its condition is compatible with the data read from it. */
export const checkNeeds: Check = (context) => {
  const hasServices = [...context.pipeline.steps, ...context.pipeline.finally].some(({ service }) => service);
  for (const checked of context.steps.values()) {
    if (hasServices) checkReadsOfServices(context, checked);
    checked.step.needs.forEach((need, index) => {
      const path = (): Path =>
        pathInStep(context, checked, ['needs', Array.isArray(checked.raw.needs) ? index : need.step]);
      checkNeed(context, { checked, need, path });
    });
  }
};

/** A step that uses a service starts while the service runs, but its outputs exist only after it has ended. */
function checkReadsOfServices(context: CheckContext, checked: CheckedStep): void {
  for (const [name, { from }] of Object.entries(checked.step.inputs)) {
    const of = 'step' in from ? context.steps.get(from.step) : undefined;
    const fault = of && findEarlyRead({ of, by: checked, what: 'outputs' });
    if (fault) context.report({ ...fault, path: pathInStep(context, checked, ['inputs', name]) });
  }
}

const sources = new WeakMap<CheckedStep['step']['inputs'], ReadonlySet<string>>();

/** The steps that inputs read from, computed once: a step may need thousands. */
function sourcesOf(inputs: CheckedStep['step']['inputs']): ReadonlySet<string> {
  const before = sources.get(inputs);
  if (before !== undefined) return before;
  const found = new Set(Object.values(inputs).flatMap(({ from }) => ('step' in from ? [from.step] : [])));
  sources.set(inputs, found);
  return found;
}

interface NeedPlace {
  readonly checked: CheckedStep;
  readonly need: CheckedStep['step']['needs'][number];
  readonly path: () => Path;
}

function checkNeed({ steps, report, suggestStep }: CheckContext, { checked, need, path }: NeedPlace): void {
  const { step, final } = checked;
  const target = steps.get(need.step);
  if (target === undefined) {
    const message = `step \`${step.name}\` needs \`${need.step}\`, which does not exist`;
    report({
      code: 'unknown-step',
      message,
      path: path(),
      lookedIn: ['steps'],
      ...suggestStep(need.step),
    });
    return;
  }
  if (target.final && !final) {
    const message = `step \`${step.name}\` cannot need \`${need.step}\`: steps in \`finally\` run after all others`;
    report({ code: 'final-dependency', message, path: path() });
  }
  if (need.condition === 'running' && target.step.service === undefined) {
    const message = `step \`${step.name}\` needs \`${need.step}\` to be running, but \`${need.step}\` is not a service`;
    report({
      code: 'not-a-service',
      message,
      path: path(),
      hint: `add \`service: true\` to \`${need.step}\`, or wait until it has ended`,
    });
  }
  if (need.condition === 'succeeded' || need.condition === 'completed') return;
  const reads = sourcesOf(step.inputs).has(need.step);
  if (reads && need.condition !== 'running') {
    const message = `step \`${step.name}\` reads an output of \`${need.step}\`, but needs it with the condition \`${need.condition}\``;
    report({ code: 'conflicting-need', message, path: path(), hint: 'only a step that succeeded has outputs' });
  }
}
