import { findCycles } from '../graph/find-cycles.ts';
import { createStepGraph } from '../graph/step-graph.ts';
import type { Pipeline } from '../model/pipeline.ts';
import type { PlannedDependency } from '../model/plan.ts';
import { allSteps } from '../plan/all-steps.ts';
import { collectDependencies } from '../plan/collect-dependencies.ts';
import type { Check } from './check-context.ts';

/**
 * A service ends with the last step that uses it, so none of these steps may wait for a step that waits for that end.
 */
export const checkServiceEnds: Check = ({ pipeline, steps, report }) => {
  const all = allSteps(pipeline);
  if (!all.some(({ service }) => service !== undefined)) return;
  const rows = collectDependencies(pipeline);
  // `checkCycles` already reports plain cycles.
  if (findCycles(createStepGraph(rows)).length > 0) return;
  for (const { path } of findCycles(createStepGraph(startsAndEnds(pipeline, rows)))) {
    const names = path
      .map((node) => all[node % all.length]?.name ?? '')
      .filter((name, at, list) => name !== list[at - 1]);
    if (names.length > 1 && names.at(-1) === names[0]) names.pop();
    const first = names.find((name) => steps.get(name)?.step.service !== undefined) ?? '';
    const checked = steps.get(first);
    if (checked === undefined) continue;
    const from = names.indexOf(first);
    const way = [...names.slice(from), ...names.slice(0, from), first].join(' -> ');
    report({
      code: 'service-never-ends',
      message: `service \`${first}\` would never end: it runs until all steps that use it have ended, and one of them waits for it to end: ${way}`,
      path: checked.path,
      on: 'key',
      hint: `wait for \`${first}\` to be running instead, or move the step that waits for its end to \`finally\``,
    });
  }
};

/** Node `i` is the start of step `i`, node `n + i` its end; each with its predecessors. */
function startsAndEnds(
  pipeline: Pipeline,
  rows: readonly (readonly PlannedDependency[])[],
): readonly (readonly { readonly on: number }[])[] {
  const all = allSteps(pipeline);
  const serves = (at: number): boolean => all[at]?.service !== undefined;
  const final = (at: number): boolean => at >= pipeline.steps.length;
  const starts = rows.map((row) => {
    return row.map(({ on, condition }) => {
      const early = condition === 'succeeded' || condition === 'running' || condition === 'skipped';
      return { on: serves(on) && early ? on : all.length + on };
    });
  });
  const ends = all.map((_, at) => [{ on: at }]);
  rows.forEach((row, at) => {
    for (const { on, condition } of row) {
      const uses = condition === 'succeeded' || condition === 'running';
      if (serves(on) && uses && final(on) === final(at)) ends[on]?.push({ on: all.length + at });
    }
  });
  return [...starts, ...ends];
}
