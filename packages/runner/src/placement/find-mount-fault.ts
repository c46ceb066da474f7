import type { Plan, Step } from '@sluice/core';

/** The limit of the included service. For services that accept fewer, a profile can set `limits.mounts`. */
const DEFAULT_MOUNTS = 10_000;

/** The longest label of the included service; one names the mount points to which a container may write. */
const MAX_WRITABLE = 65_536;

/** The most mounts of one container. */
export function maxMounts(limits: { readonly mounts?: number } | undefined): number {
  return limits?.mounts ?? DEFAULT_MOUNTS;
}

/** The first step with more mounts than the service accepts; undefined if there is none. */
export function findMountFault(
  plan: Plan,
  limits: { readonly mounts?: number } | undefined,
): { readonly step: string; readonly message: string } | undefined {
  const most = maxMounts(limits);
  for (const { step } of plan.steps) {
    const count = countMounts(step);
    if (count > most) {
      const message = `step ${step.name} has ${count} mounts, and its service takes ${most}; mount the output of one step with cells, which is one mount`;
      return { step: step.name, message };
    }
    const length = lengthOfWritable(step);
    if (length > MAX_WRITABLE) {
      const message = `the mount points to which step ${step.name} may write have ${length} characters as JSON, and its service takes ${MAX_WRITABLE}; write to directories in one output`;
      return { step: step.name, message };
    }
  }
  return undefined;
}

/** Inputs, outputs, the directory of the results, and the directory in which a service signals that it is ready. */
function countMounts({ inputs, outputs, results, service }: Step): number {
  const hasResults = Object.keys(results).length > 0;
  const signalsReady = service?.ready !== undefined && 'command' in service.ready;
  return Object.keys(inputs).length + Object.keys(outputs).length + Number(hasResults) + Number(signalsReady);
}

/** Characters of the directories for results and readiness, which are counted for every step. */
const OWN_DIRECTORIES = 36;

function lengthOfWritable({ inputs, outputs }: Step): number {
  const mounts = [...Object.values(inputs).filter(({ writable }) => writable), ...Object.values(outputs)];
  // Most steps have so few that their length is far below the limit.
  if (mounts.length < 10) return 0;
  return JSON.stringify(mounts.map(({ path }) => path)).length + OWN_DIRECTORIES;
}
