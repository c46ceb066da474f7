import { ok, type Result } from '@sluice/core';
import { createRunId } from '../identity/run-id.ts';
import { openJournal } from '../journal/open-journal.ts';
import { applyRecord } from './apply-record.ts';
import { controlRun } from './control-run.ts';
import { refuseDiskErrors } from './disk-error.ts';
import { driveRun } from './drive-run.ts';
import { prepareSurroundings } from './prepare-surroundings.ts';
import { createRunScheduler, type MoveListener } from './replay-run.ts';
import { type FilledOptions, withDefaults } from './run-defaults.ts';
import { createRunFacts } from './run-facts.ts';
import { runDirectory, writePlan } from './run-home.ts';
import type { RunHandle, RunRefusal, StartRunOptions } from './run-options.ts';
import { summarize, writeSummary } from './run-summary.ts';

const DEFAULT_MAX_IN_FLIGHT = 1000;

/**
 * Freezes the plan in the home and starts driving it. What can refuse a run (secrets, sources, volumes, instance
 * types, the service itself) is asked first, so that a refused one leaves nothing behind but uploaded sources.
 */
export function startRun(given: StartRunOptions): Promise<Result<RunHandle, RunRefusal>> {
  const options = withDefaults(given);
  return refuseDiskErrors(options.home, () => start(options));
}

async function start(options: FilledOptions<StartRunOptions>): Promise<Result<RunHandle, RunRefusal>> {
  const { plan, clock, disk, scope, baseDir, home } = options;
  const surroundings = await prepareSurroundings(options);
  if (!surroundings.ok) return surroundings;
  const runId = options.runId ?? createRunId();
  const directory = runDirectory(home, runId);
  await writePlan(disk, directory, plan);
  const control = controlRun();
  const opened = await openJournal(directory, { disk, clock, control: control.listener });
  if (!opened.ok) return opened;
  const facts = createRunFacts(plan);
  const moves: MoveListener = {};
  const scheduler = { maxInFlight: options.maxInFlight ?? DEFAULT_MAX_IN_FLIGHT, seed: runId };
  const header = {
    kind: 'run',
    format: 1,
    runId,
    pipeline: plan.pipeline.name,
    at: clock.now(),
    clusterID: scope.clusterID,
    accountID: scope.accountID,
    baseDir,
    scheduler,
  } as const;
  for (const record of [header, { kind: 'volumes', volumes: surroundings.value.volumes } as const]) {
    applyRecord(facts, record);
    opened.value.journal.append(record);
  }
  await writeSummary(disk, directory, summarize(facts));
  const handle = await driveRun({
    options,
    directory,
    plan,
    opened: opened.value,
    facts,
    scheduler: createRunScheduler(plan, scheduler, moves),
    moves,
    instanceTypes: surroundings.value.instanceTypes,
    workspace: surroundings.value.workspace,
    resumed: false,
  });
  control.attach(handle);
  return ok(handle);
}
