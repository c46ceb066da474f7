import { axesOfStep, matchAxes } from '../axes/implied-axes.ts';
import { listedAxis } from '../axes/listed-axes.ts';
import { own } from '../model/own.ts';
import type { Input, Step } from '../model/pipeline.ts';
import type { PlannedDependency } from '../model/plan.ts';
import type { Path } from '../parse/source-document.ts';
import { allSteps } from '../plan/all-steps.ts';
import { collectDependencies } from '../plan/collect-dependencies.ts';
import type { Check, CheckContext, CheckedStep } from './check-context.ts';
import { pathInStep } from './check-context.ts';
import type { Fault } from './fault.ts';
import { suggestName } from './nearest-name.ts';

/** Steps have axes that exist, alone, and it is clear which cells of each other two of them mean. */
export const checkEach: Check = (context) => {
  const { pipeline } = context;
  const hasAxes = [...context.steps.values()].some(({ step }) => step.each !== undefined);
  if (!hasAxes && !usesRules(context)) return;
  const all = allSteps(pipeline);
  const dependencies = collectDependencies(pipeline);
  for (const [index, { name }] of all.entries()) {
    const checked = context.steps.get(name);
    if (checked === undefined || checked.step !== all[index]) continue;
    checkKeys(context, checked);
    for (const [input, rules] of Object.entries(checked.step.inputs)) checkRules(context, checked, { input, rules });
    for (const dependency of dependencies[index] ?? []) {
      const source = context.steps.get(all[dependency.on]!.name);
      if (source !== undefined) checkMatch(context, checked, { source, dependency });
    }
  }
};

function usesRules({ steps }: CheckContext): boolean {
  for (const { step } of steps.values()) {
    for (const { where, all } of Object.values(step.inputs)) if (where !== undefined || all !== undefined) return true;
  }
  return false;
}

function checkKeys(context: CheckContext, checked: CheckedStep): void {
  const { step } = checked;
  if (step.each === undefined) return;
  const axes = Object.keys(context.pipeline.axes ?? {});
  const path = pathInStep(context, checked, ['each']);
  const at = (index: number): Path => (Array.isArray(checked.raw.each) ? [...path, index] : path);
  for (const [index, axis] of step.each.entries()) {
    if (!axes.includes(axis)) {
      const message = `step \`${step.name}\` has cells for each \`${axis}\`, which is not an axis of the pipeline`;
      const hint = axes.length === 0 ? { hint: `declare it: axes: { ${axis}: [...] }` } : suggestName(axis, axes);
      context.report({ code: 'unknown-axis', message, path: at(index), lookedIn: ['axes'], ...hint });
    } else if (step.each.indexOf(axis) !== index) {
      const message = `\`each\` of step \`${step.name}\` has \`${axis}\` twice`;
      context.report({ code: 'duplicate-key', message, path: at(index) });
    }
  }
  checkLimits(context, step);
  const listed = step.service === undefined ? undefined : listedAxis(context.pipeline, step);
  if (listed !== undefined) {
    const message = `service \`${step.name}\` has cells for each \`${listed}\`, whose items are known only during the run`;
    const path = pathInStep(context, checked, ['service']);
    const hint = 'use axes whose items come from parameters or files';
    context.report({ code: 'conflicting-keys', message, path, on: 'key', hint });
  }
  for (const key of ['matrix', 'foreach'] as const) {
    if (step[key] === undefined) continue;
    const message = `step \`${step.name}\` cannot have both \`each\` and \`${key}\``;
    const hint = 'declare an axis for its values';
    context.report({ code: 'conflicting-keys', message, path: pathInStep(context, checked, [key]), on: 'key', hint });
  }
}

/** Two limits for the items of one cell could wait for each other. */
function checkLimits({ pipeline, report }: CheckContext, step: Step): void {
  if (pipeline.finally.includes(step)) return;
  const [first, second] = axesOfStep(pipeline, step).filter(
    (axis) => own(pipeline.axes!, axis)!.parallelism !== undefined,
  );
  if (first === undefined || second === undefined) return;
  const message = `the cells of step \`${step.name}\` have items of \`${first}\` and of \`${second}\`, which both have \`parallelism\``;
  const hint = 'keep it at one of them, and limit the cells of the step by its own `parallelism`';
  report({ code: 'conflicting-keys', message, path: ['axes', second, 'parallelism'], on: 'key', hint });
}

/** `where` and `all` name axes that both steps can have. */
function checkRules(
  context: CheckContext,
  checked: CheckedStep,
  { input, rules }: { readonly input: string; readonly rules: Input },
): void {
  const { pipeline, steps } = context;
  const { from, where, all = [] } = rules;
  const report = (fault: Omit<Fault, 'path'>, keys: Path): void =>
    context.report({ ...fault, path: pathInStep(context, checked, ['inputs', input, ...keys]) });
  const named = [
    ...Object.keys(where ?? {}).map((axis) => ['where', axis] as const),
    ...all.map((axis) => ['all', axis] as const),
  ];
  if (named.length === 0) return;
  if ('volume' in from) {
    report({ code: 'conflicting-keys', message: `\`${named[0]![0]}\` needs a step as the source`, on: 'key' }, [
      named[0]![0],
    ]);
    return;
  }
  const source = steps.get(from.step)?.step;
  for (const [key, axis] of named) {
    const known = Object.keys(pipeline.axes ?? {});
    const at = key === 'where' ? [key, axis] : [key];
    if (!known.includes(axis)) {
      const message = `\`${key}\` names \`${axis}\`, which is not an axis of the pipeline`;
      report({ code: 'unknown-axis', message, lookedIn: ['axes'], ...suggestName(axis, known) }, at);
    } else if (source !== undefined && !axesOfStep(pipeline, source).includes(axis)) {
      const message = `\`${key}\` names \`${axis}\`, but step \`${source.name}\` has no cells for it`;
      report({ code: 'unknown-axis', message, ...suggestName(axis, axesOfStep(pipeline, source)) }, at);
    } else if (checked.step.each === undefined) {
      const message = `step \`${checked.step.name}\` has no \`each\`, and reads all cells of \`${from.step}\``;
      report({ code: 'conflicting-keys', message, on: 'key', hint: `remove \`${key}\`, or add \`each\`` }, [key]);
    }
  }
}

/** Two steps with axes have a common one, or the input says what is meant. */
function checkMatch(
  context: CheckContext,
  checked: CheckedStep,
  { source, dependency }: { readonly source: CheckedStep; readonly dependency: PlannedDependency },
): void {
  const { step } = checked;
  if (step.each === undefined || source.step.each === undefined) return;
  const name = source.step.name;
  const rules = own(step.inputs, dependency.input ?? '');
  if (rules?.where !== undefined || rules?.all !== undefined) return;
  if (matchAxes(context.pipeline, { reader: step, source: source.step }).shared.length > 0) return;
  const input = dependency.input ?? Object.keys(step.inputs).find((one) => reads(own(step.inputs, one)!, name));
  const path = pathInStep(context, checked, input === undefined ? ['each'] : ['inputs', input]);
  const message = `step \`${step.name}\` and step \`${name}\` have no common axis, so it is not clear which cells are meant`;
  const hint = 'write the input as a map with `all: AXIS` for all cells, or `where: { AXIS: KEY }` for some of them';
  context.report({ code: 'no-common-axis', message, path, hint });
}

function reads({ from }: Input, step: string): boolean {
  return 'step' in from && from.step === step;
}
