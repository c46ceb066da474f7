import type { Plan, Step } from '@sluice/core';

/** What our own service takes; other services may take fewer, which a profile can say (`limits.mounts`). */
const DEFAULT_MOUNTS = 10_000;

/** The first step with more mounts than the service takes; undefined where all fit. */
export function findMountFault(
  plan: Plan,
  limits: { readonly mounts?: number } | undefined,
): { readonly step: string; readonly message: string } | undefined {
  const most = limits?.mounts ?? DEFAULT_MOUNTS;
  for (const { step } of plan.steps) {
    const count = countMounts(step);
    if (count <= most) continue;
    const message = `step ${step.name} has ${count} mounts, and its service takes ${most}; mount the output of one step with cells, which is one mount`;
    return { step: step.name, message };
  }
  return undefined;
}

/** Inputs, outputs, the directory of the results and that of the sign that a service is ready. */
function countMounts({ inputs, outputs, results, service }: Step): number {
  const hasResults = Object.keys(results).length > 0;
  const leavesSign = service?.ready !== undefined && 'command' in service.ready;
  return Object.keys(inputs).length + Object.keys(outputs).length + Number(hasResults) + Number(leavesSign);
}
