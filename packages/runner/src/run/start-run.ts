import { fail, ok, type Plan, type Result, resolveText } from '@sluice/core';
import { checkReuse } from '../cache/check-reuse.ts';
import type { Reuse } from '../cache/reuse.ts';
import { createRunId } from '../identity/run-id.ts';
import { type OpenJournal, openJournal, releaseOnFailure } from '../journal/open-journal.ts';
import { applyRecord } from './apply-record.ts';
import { controlRun } from './control-run.ts';
import { refuseDiskErrors } from './disk-error.ts';
import { driveRun } from './drive-run.ts';
import { enterGroup } from './enter-group.ts';
import { readDurations } from './known-durations.ts';
import { prepareSurroundings, type Surroundings } from './prepare-surroundings.ts';
import { createRunScheduler, type MoveListener } from './replay-run.ts';
import { type FilledOptions, withDefaults } from './run-defaults.ts';
import { createRunFacts } from './run-facts.ts';
import { createHeader } from './run-header.ts';
import { runDirectory, writePlan } from './run-home.ts';
import type { RunHandle, RunRefusal, StartRunOptions } from './run-options.ts';
import { summarize, writeSummary } from './run-summary.ts';
import { describeRun } from './step-context.ts';

/**
 * Freezes the plan in the home and starts driving it. What can refuse a run (secrets, sources, volumes, instance
 * types, the service itself) is asked first, so that a refused one leaves nothing behind but uploaded sources.
 */
export function startRun(given: StartRunOptions): Promise<Result<RunHandle, RunRefusal>> {
  const options = withDefaults(given);
  return refuseDiskErrors(options.home, () => start(options));
}

async function start(options: FilledOptions<StartRunOptions>): Promise<Result<RunHandle, RunRefusal>> {
  const { plan, clock, disk, home } = options;
  const reused = options.reuse && (await checkReuse(options.reuse, options));
  if (reused && !reused.ok) return reused;
  const surroundings = await prepareSurroundings(options);
  if (!surroundings.ok) return surroundings;
  const runId = options.runId ?? createRunId();
  const directory = runDirectory(home, runId);
  const control = controlRun();
  const open = async () => {
    await writePlan(disk, directory, plan);
    return openJournal(directory, { disk, clock, control: control.listener });
  };
  const plannedTime = options.plannedTime ?? reused?.value.plannedTime ?? clock.now();
  const group = resolveGroup(plan, { runId, plannedTime });
  if (!group.ok) return group;
  const opened = await (group.value === undefined ? open() : enterGroup(options, { group: group.value, runId }, open));
  if (!opened.ok) return opened;
  if (opened.value.records.some(({ kind }) => kind === 'run')) {
    await opened.value.release();
    return fail({ code: 'RUN_IN_USE', message: `could not start run ${runId}: it has begun already` });
  }
  return releaseOnFailure(opened.value, async () => {
    const handle = await begin(options, {
      ...{ runId, plannedTime, directory },
      ...{ opened: opened.value, surroundings: surroundings.value, reuse: reused?.value.reuse },
    });
    control.attach(handle);
    return ok(handle);
  });
}

/** Name of the concurrency group that the run belongs to; undefined where it belongs to none. */
function resolveGroup(
  plan: Plan,
  given: { runId: string; plannedTime: number },
): Result<string | undefined, RunRefusal> {
  const { concurrency } = plan.pipeline;
  if (!concurrency) return ok(undefined);
  const run = describeRun({ ...given, plan });
  const group = resolveText(plan, concurrency.group, { run, attempt: 1, steps: () => undefined });
  return group.ok
    ? group
    : fail({ code: 'GROUP_BUSY', message: `could not tell the concurrency group: ${group.error}` });
}

interface Beginning {
  readonly runId: string;
  readonly plannedTime: number;
  readonly directory: string;
  readonly opened: OpenJournal;
  readonly surroundings: Surroundings;
  readonly reuse: Reuse | undefined;
}

/** Writes down what the run is, and drives it. */
async function begin(options: FilledOptions<StartRunOptions>, given: Beginning): Promise<RunHandle> {
  const { plan, disk } = options;
  const { runId, plannedTime, directory, opened, surroundings, reuse } = given;
  const facts = createRunFacts(plan);
  const moves: MoveListener = {};
  const durations = await readDurations(disk, options.home, plan.pipeline.name);
  const header = createHeader(options, { runId, plannedTime, placement: surroundings.placement, durations, reuse });
  for (const record of [header, { kind: 'volumes', volumes: surroundings.volumes } as const]) {
    applyRecord(facts, record);
    opened.journal.append(record);
  }
  // A run with a summary is one that can be resumed. Where the journal cannot be written, its loop says so.
  await opened.journal.commit().catch(() => {});
  await writeSummary(disk, directory, summarize(facts));
  return driveRun({
    options,
    directory,
    plan,
    opened,
    facts,
    scheduler: createRunScheduler(plan, header, moves),
    moves,
    instanceTypes: surroundings.instanceTypes,
    workspace: surroundings.workspace,
    resumed: false,
  });
}
