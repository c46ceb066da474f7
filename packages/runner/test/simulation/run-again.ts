import { createLaterProgram, type Program, writeList } from './check-programs.ts';
import { findLister } from './listed-parts.ts';
import type { World } from './live-run.ts';
import { HOME_CLUSTER, planRun } from './scenario.ts';
import { createProcess } from './simulated-process.ts';

/** The run that takes from the cache what the only run of a scenario has left. */
export const LATER_RUN = 'simulatedrunz';

/** What the containers of the later run do. */
export function laterProgram(world: World): Pick<Program, 'work'> {
  const { scenario, service, violations } = world;
  const [script] = scenario.runs;
  const { work } = createLaterProgram(
    { plan: planRun(script!, scenario, { isDecided: true }), simulated: () => service },
    (holds, message) => {
      if (!holds) violations.push(message());
    },
  );
  const lister = findLister(script!.steps);
  return {
    work(container) {
      work(container);
      if (container.labels?.['sluice-step'] === lister?.name) writeList(lister!, container, service);
    },
  };
}

/** Runs the pipeline once more, in peace: whatever programs have changed before, it makes what was meant. */
export async function runAgain(world: World): Promise<void> {
  const { scenario, runner, clock, disk, service, violations } = world;
  Object.assign(disk, { room: Number.POSITIVE_INFINITY, failingSyncs: 0 });
  const process = createProcess({ clock, disk, service: service.service });
  const started = await runner.startRun({
    ...{ service: process.service, clock: process.clock, disk: process.disk },
    home: '/home',
    runId: LATER_RUN,
    plan: planRun(scenario.runs[0]!, scenario),
    scope: { clusterID: HOME_CLUSTER, accountID: 'me' },
    baseDir: '/base',
  });
  if (!started.ok) {
    violations.push(`the later run could not start: ${started.error.message}`);
    return;
  }
  const { status, failures } = await started.value.finished;
  if (status !== 'succeeded') violations.push(`the later run ${status}: ${failures[0]?.message}`);
}
