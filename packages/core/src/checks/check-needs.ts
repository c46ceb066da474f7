import type { Path } from '../parse/source-document.ts';
import type { Check, CheckContext, CheckedStep } from './check-context.ts';
import { pathInStep } from './check-context.ts';
import { findEarlyRead } from './early-read.ts';

/** Every step in `needs` exists, can be waited for, and its condition agrees with the data that is read from it. */
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

/** What uses a service starts while it runs, and its outputs are there when it has ended. */
function checkReadsOfServices(context: CheckContext, checked: CheckedStep): void {
  for (const [name, { from }] of Object.entries(checked.step.inputs)) {
    const of = 'step' in from ? context.steps.get(from.step) : undefined;
    const fault = of && findEarlyRead({ of, by: checked, what: 'outputs' });
    if (fault) context.report({ ...fault, path: pathInStep(context, checked, ['inputs', name]) });
  }
}

const sources = new WeakMap<CheckedStep['step']['inputs'], ReadonlySet<string>>();

/** The steps that are read from, found once: one step may need thousands. */
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
    const message = `step \`${step.name}\` needs \`${need.step}\`, and there is no such step`;
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
    const message = `step \`${step.name}\` cannot need \`${need.step}\`, which runs in \`finally\`, after it`;
    report({ code: 'final-dependency', message, path: path() });
  }
  if (need.condition === 'running' && target.step.service === undefined) {
    const message = `step \`${step.name}\` needs \`${need.step}\` running, and \`${need.step}\` is no service`;
    report({
      code: 'not-a-service',
      message,
      path: path(),
      hint: `give \`${need.step}\` the key \`service: true\`, or wait for its end`,
    });
  }
  if (need.condition === 'succeeded' || need.condition === 'completed') return;
  const reads = sourcesOf(step.inputs).has(need.step);
  if (reads && need.condition !== 'running') {
    const message = `step \`${step.name}\` reads an output of \`${need.step}\`, and waits for it to be ${need.condition}`;
    report({ code: 'conflicting-need', message, path: path(), hint: 'outputs exist only of a step that succeeded' });
  }
}
