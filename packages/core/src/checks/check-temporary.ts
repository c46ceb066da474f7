import { own } from '../model/own.ts';
import { type Check, type CheckContext, type CheckedStep, pathInStep } from './check-context.ts';

/** A temporary output is removed during the run, so nothing may promise that it is there afterwards. */
export const checkTemporary: Check = (context) => {
  for (const checked of context.steps.values()) {
    for (const [name, { temporary, retain }] of Object.entries(checked.step.outputs)) {
      if (temporary && retain) reportRetained(context, checked, name);
    }
  }
  for (const [name, { from }] of Object.entries(context.pipeline.outputs)) {
    const { step, output } = from;
    const checked = context.steps.get(step);
    if (checked === undefined || own(checked.step.outputs, output)?.temporary !== true) continue;
    context.report({
      code: 'conflicting-keys',
      message: `output \`${name}\` of the pipeline cannot be \`${step}.${output}\`, which is temporary`,
      path: ['outputs', name, 'from'],
      hint: `remove \`temporary\` from \`${step}.${output}\`: it would be removed before the end of the run`,
      related: [
        { message: 'declared temporary here', path: pathInStep(context, checked, ['outputs', output, 'temporary']) },
      ],
    });
  }
};

function reportRetained(context: CheckContext, checked: CheckedStep, output: string): void {
  context.report({
    code: 'conflicting-keys',
    message: `output \`${output}\` of step \`${checked.step.name}\` cannot be both \`temporary\` (removed during the run) and \`retain\` (kept after it)`,
    path: pathInStep(context, checked, ['outputs', output, 'temporary']),
    on: 'key',
    hint: 'remove one of the two',
  });
}
