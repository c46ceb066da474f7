import type { Check } from './check-context.ts';

/** Nothing is published to the same directory twice. */
export const checkPublishing: Check = ({ pipeline, report }) => {
  const taken = new Map<string, string>();
  for (const [name, output] of Object.entries(pipeline.outputs)) {
    if (output.publish === undefined) continue;
    const first = taken.get(output.publish);
    if (first === undefined) taken.set(output.publish, name);
    else {
      const message = `the outputs \`${first}\` and \`${name}\` are published to the same place, ${output.publish}`;
      report({ code: 'duplicate-mount', message, path: ['outputs', name, 'publish'] });
    }
  }
};
