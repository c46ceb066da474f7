import { findCycles } from '../graph/find-cycles.ts';
import { createStepGraph } from '../graph/step-graph.ts';
import { allSteps } from '../plan/all-steps.ts';
import { collectDependencies } from '../plan/collect-dependencies.ts';
import type { Check } from './check-context.ts';

/** No step depends on itself. Each cycle is reported once, from its first step, along its shortest path. */
export const checkCycles: Check = ({ pipeline, steps, report }) => {
  const all = allSteps(pipeline);
  for (const { component, path } of findCycles(createStepGraph(collectDependencies(pipeline)))) {
    const names = path.map((index) => all[index]?.name ?? '');
    const [first] = names;
    const checked = first === undefined ? undefined : steps.get(first);
    if (first === undefined || checked === undefined) continue;
    const way = [...names, first].join(' -> ');
    const more = component.length > names.length ? `, in a group of ${component.length} steps` : '';
    const message =
      names.length === 1
        ? `step \`${first}\` depends on itself: ${way}`
        : `these steps depend on each other: ${way}${more}`;
    const related = names.slice(1).map((name) => {
      return {
        message: `step \`${name}\` of the cycle is defined here`,
        path: steps.get(name)?.path ?? [],
        on: 'key' as const,
      };
    });
    report({ code: 'cycle', message, path: checked.path, on: 'key', related });
  }
};
