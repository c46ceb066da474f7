import { hasExpression } from '../expressions/split-template.ts';
import type { RawStep } from '../schema/step-schema.ts';
import type { Check, CheckContext, CheckedStep } from './check-context.ts';
import { pathInStep } from './check-context.ts';
import type { Report } from './fault.ts';

/** Alternative keys, of which a step may have only one. */
const RIVALS: readonly (readonly [keyof RawStep, keyof RawStep])[] = [
  ['command', 'script'],
  ['matrix', 'foreach'],
  ['instanceType', 'resources'],
  // An image has its programs.
  ['image', 'modules'],
  ['image', 'venv'],
  ['image', 'conda'],
  ['venv', 'conda'],
];

/** Keys without meaning for an approval, which runs no container. */
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
  'nodes',
  'tasksPerNode',
  'modules',
  'venv',
  'conda',
  'docker',
  'slurm',
];

/** Keys that require another key. */
const COMPANIONS: readonly (readonly [keyof RawStep, readonly (keyof RawStep)[]])[] = [
  ['shell', ['script', 'command']],
  ['docker', ['image']],
  ['with', ['uses']],
  ['parallelism', ['matrix', 'foreach']],
];

/** Every step has exactly one thing to run. */
export const checkPrograms: Check = (context) => {
  for (const checked of context.steps.values()) {
    checkRivals(checked, context.report);
    checkServiceTasks(checked, context);
    checkCompanions(checked, context);
    if (checked.step.approval === undefined) checkProgram(checked, context);
    else checkApproval(checked, context.report);
  }
};

function checkRivals({ step, raw, path }: CheckedStep, report: Report): void {
  for (const [one, other] of RIVALS) {
    if (raw[one] === undefined || raw[other] === undefined) continue;
    const message = `step \`${step.name}\` has both \`${one}\` and \`${other}\``;
    const related = [{ message: `\`${one}\` is set here`, path: [...path, one], on: 'key' as const }];
    report({ code: 'conflicting-keys', message, path: [...path, other], on: 'key', related });
  }
}

/** The readiness of a service would be that of any task. Both keys may come from `defaults`. */
function checkServiceTasks(checked: CheckedStep, context: CheckContext): void {
  const { step, raw } = checked;
  if (step.service === undefined || step.tasks === undefined) return;
  const defaults = context.raw.defaults as RawStep | undefined;
  const key = (raw.nodes ?? defaults?.nodes ?? 1) > 1 ? 'nodes' : 'tasksPerNode';
  const message = `step \`${step.name}\` has both \`service\` and \`${key}\``;
  const path = pathInStep(context, checked, ['service']);
  const related = [{ message: '`service` is set here', path, on: 'key' as const }];
  const hint = 'a service has one task: set `nodes: 1` and `tasksPerNode: 1` in its step';
  context.report({
    code: 'conflicting-keys',
    message,
    path: pathInStep(context, checked, [key]),
    on: 'key',
    related,
    hint,
  });
}

function checkCompanions({ step, raw, path }: CheckedStep, { raw: { defaults }, report }: CheckContext): void {
  const has = (key: keyof RawStep): boolean => {
    const value = raw[key] ?? (defaults as RawStep | undefined)?.[key];
    // A list is run without a shell.
    return value !== undefined && !(key === 'command' && Array.isArray(value));
  };
  for (const [key, companions] of COMPANIONS) {
    if (raw[key] === undefined || companions.some(has)) continue;
    const message = `\`${key}\` of step \`${step.name}\` requires \`${companions.join('` or `')}\`${key === 'shell' ? ' written as a string' : ''}`;
    report({ code: 'conflicting-keys', message, path: [...path, key], on: 'key' });
  }
}

function checkProgram(checked: CheckedStep, context: CheckContext): void {
  const { step, raw, path } = checked;
  if (step.command === undefined && step.image === undefined && raw.uses === undefined) {
    const message = `step \`${step.name}\` has nothing to run`;
    const hint = 'add `command`, `script`, `image`, `uses` or `approval`';
    context.report({ code: 'nothing-to-run', lookedIn: path, message, path, on: 'key', hint });
  }
  const [program, ...more] = Array.isArray(raw.command) ? raw.command : [];
  if (program !== undefined && more.length === 0 && /\s/.test(program.trim()) && !hasExpression(program)) {
    context.report({
      code: 'one-word',
      severity: 'warning',
      message: `\`command\` of step \`${step.name}\` is a single program whose name contains spaces: ${JSON.stringify(program)}`,
      path: pathInStep(context, checked, ['command', 0]),
      hint: `for a program with arguments, write [${program.trim().split(/\s+/).join(', ')}]; for a shell command, write a string without brackets`,
    });
  }
  if (step.command?.length === 0) {
    const message = `the command of step \`${step.name}\` is empty`;
    context.report({ code: 'nothing-to-run', message, path: pathInStep(context, checked, ['command']) });
  }
}

function checkApproval({ step, raw, path }: CheckedStep, report: Report): void {
  for (const key of NOT_FOR_APPROVALS) {
    if (raw[key] === undefined) continue;
    const message = `step \`${step.name}\` is an approval, which runs no container, so it cannot have \`${key}\``;
    report({ code: 'conflicting-keys', message, path: [...path, key], on: 'key' });
  }
}
