import type { Check } from './check-context.ts';
import { namesOf } from './names-of.ts';
import { suggestName } from './nearest-name.ts';

/** Every result of the pipeline names a step and a result that exist. */
export const checkResults: Check = ({ pipeline, steps, report, suggestStep }) => {
  for (const [name, { step, result }] of Object.entries(pipeline.results ?? {})) {
    const path = ['results', name];
    const source = steps.get(step);
    if (source === undefined) {
      const message = `step \`${step}\` does not exist`;
      report({ code: 'unknown-step', message, path, lookedIn: ['steps'], ...suggestStep(step) });
    } else if (!Object.hasOwn(source.step.results, result)) {
      const message = `step \`${step}\` has no result \`${result}\``;
      const hint = suggestName(result, namesOf(source.step.results));
      report({ code: 'unknown-result', message, path, lookedIn: [...source.path, 'results'], ...hint });
    }
  }
};
