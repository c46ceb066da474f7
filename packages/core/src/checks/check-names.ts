import type { Check } from './check-context.ts';

/** There is at least one step, and no name is both in `steps` and in `finally`. */
export const checkNames: Check = ({ raw, pipeline, report }) => {
  if (pipeline.steps.length === 0 && raw.include === undefined) {
    const path = raw.steps === undefined ? [] : ['steps'];
    report({
      code: 'no-steps',
      message: `pipeline \`${pipeline.name}\` has no steps`,
      path,
      on: 'key',
      lookedIn: ['steps'],
    });
  }
  if (pipeline.finally.length === 0) return;
  const names = new Set(pipeline.steps.map((step) => step.name));
  for (const { name } of pipeline.finally) {
    if (!names.has(name)) continue;
    const message = `the name \`${name}\` is used in both \`steps\` and \`finally\``;
    const related = [{ message: 'first defined here', path: ['steps', name], on: 'key' as const }];
    report({ code: 'duplicate-key', message, path: ['finally', name], on: 'key', related });
  }
};
