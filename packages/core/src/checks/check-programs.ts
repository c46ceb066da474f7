import type { RawStep } from '../schema/step-schema.ts';
import type { Check, CheckedStep } from './check-context.ts';
import { pathInStep } from './check-context.ts';

/** Keys that answer the same question, of which a step may have one. */
const RIVALS: readonly (readonly [keyof RawStep, keyof RawStep])[] = [
  ['command', 'script'],
  ['matrix', 'foreach'],
  ['instanceType', 'resources'],
];

/** What an approval cannot have, since it runs no container. */
const NOT_FOR_APPROVALS: readonly (keyof RawStep)[] = [
  'image',
  'command',
  'script',
  'inputs',
  'outputs',
  'results',
  'matrix',
  'foreach',
  'service',
  'ports',
  'cache',
  'retry',
];

/** Every step says what to run, once. */
export const checkPrograms: Check = (context) => {
  const { report } = context;
  for (const checked of context.steps.values()) {
    const { step, path, raw } = checked;
    for (const [one, other] of RIVALS) {
      if (raw[one] === undefined || raw[other] === undefined) continue;
      const message = `step \`${step.name}\` has both \`${one}\` and \`${other}\``;
      report({
        code: 'conflicting-keys',
        message,
        path: [...path, other],
        on: 'key',
        related: [{ message: `\`${one}\` stands here`, path: [...path, one], on: 'key' }],
      });
    }
    if (step.approval !== undefined) checkApproval(checked, context.report);
    else if (step.command === undefined && step.image === undefined && raw.uses === undefined) {
      const message = `step \`${step.name}\` has nothing to run`;
      report({
        code: 'nothing-to-run',
        lookedIn: path,
        message,
        path,
        on: 'key',
        hint: 'give it `command`, `script`, `image`, `uses` or `approval`',
      });
    }
    if (step.command !== undefined && step.command.length === 0) {
      report({
        code: 'nothing-to-run',
        message: `the command of step \`${step.name}\` is empty`,
        path: pathInStep(context, checked, ['command']),
      });
    }
    if (
      raw.shell !== undefined &&
      step.command !== undefined &&
      raw.script === undefined &&
      context.raw.defaults?.script === undefined
    ) {
      report({
        code: 'conflicting-keys',
        message: `\`shell\` of step \`${step.name}\` is for \`script\`, which it does not have`,
        path: [...path, 'shell'],
        on: 'key',
      });
    }
    if (raw.with !== undefined && raw.uses === undefined) {
      report({
        code: 'conflicting-keys',
        message: `\`with\` of step \`${step.name}\` is for \`uses\`, which it does not have`,
        path: [...path, 'with'],
        on: 'key',
      });
    }
    if (
      step.maxParallel !== undefined &&
      step.matrix === undefined &&
      step.foreach === undefined &&
      raw.maxParallel !== undefined
    ) {
      const message = `\`maxParallel\` of step \`${step.name}\` is for \`matrix\` or \`foreach\`, and it has neither`;
      report({ code: 'conflicting-keys', severity: 'warning', message, path: [...path, 'maxParallel'], on: 'key' });
    }
  }
};

function checkApproval({ step, raw, path }: CheckedStep, report: Parameters<Check>[0]['report']): void {
  for (const key of NOT_FOR_APPROVALS) {
    if (raw[key] === undefined) continue;
    const message = `step \`${step.name}\` is an approval, runs no container, and cannot have \`${key}\``;
    report({ code: 'conflicting-keys', message, path: [...path, key], on: 'key' });
  }
}
