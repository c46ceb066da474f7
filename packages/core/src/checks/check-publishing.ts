import { besideFile } from '../parse/file-set.ts';
import type { Check } from './check-context.ts';

/** Nothing is published to the same directory twice. */
export const checkPublishing: Check = ({ pipeline, report }) => {
  const taken = new Map<string, string>();
  for (const [name, output] of Object.entries(pipeline.outputs)) {
    if (output.publish === undefined) continue;
    // `./results`, `results/` and `results` are one place.
    const place = besideFile('', output.publish);
    const first = taken.get(place);
    if (first === undefined) taken.set(place, name);
    else {
      const message = `the outputs \`${first}\` and \`${name}\` are published to the same place, ${output.publish}`;
      report({ code: 'duplicate-mount', message, path: ['outputs', name, 'publish'] });
    }
  }
};
