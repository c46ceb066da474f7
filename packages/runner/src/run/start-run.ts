import { ok, type Result } from '@sluice/core';
import {
  announceStart,
  checkReuse,
  createRunId,
  createSystemClock,
  type FoundJournal,
  type OpenJournal,
  openJournal,
  readDurations,
  rejectDiskErrors,
  releaseOnFailure,
  resolveGroup,
  runDirectory,
  type StartAnnouncement,
  summarize,
  writePlan,
  writeSummary,
} from '@sluice/home';
import {
  applyRecord,
  createRunFacts,
  createRunScheduler,
  describeRun,
  type MoveListener,
  type Reuse,
  type RunError,
} from '@sluice/run';
import { enterGroup } from '../concurrency/enter-group.ts';
import { controlRun } from '../session/control-run.ts';
import { type NumberedOptions, numberEvents } from '../session/number-events.ts';
import { withDefaults } from '../session/run-defaults.ts';
import type { RunHandle, StartRunOptions } from '../session/run-options.ts';
import type { ExecuteOptions } from './execute-options.ts';
import { executeRun } from './execute-run.ts';
import { type ProvisionedRun, provisionRun } from './provision-run.ts';
import { resolveImages } from './resolve-images.ts';
import { cancelLeft } from './resume-run.ts';
import { createHeader } from './run-header.ts';

/**
 * Freezes the plan in the home and starts to execute it. Everything that can make a run impossible (secrets, sources,
 * volumes, instance types, the service itself) is checked first, so that a rejected run leaves nothing behind except
 * uploaded sources.
 */
export function startRun(given: StartRunOptions): Promise<Result<RunHandle, RunError>> {
  const control = controlRun(given.clock ?? createSystemClock());
  return start(given, {
    control,
    enters: 'when-it-has-a-place',
    act: async (execution) => {
      const handle = await executeRun(execution);
      control.attach(handle);
      return handle;
    },
  });
}

/**
 * As `startRun`, but releases the recorded run instead of executing it, for a process that resumes it. A run whose
 * concurrency group has `overlap: queue` joins the queue only when it is resumed.
 */
export function submitRun(given: StartRunOptions): Promise<Result<SubmittedRun, RunError>> {
  return start(given, {
    control: controlRun(given.clock ?? createSystemClock()),
    enters: 'unless-it-queues',
    act: async ({ opened, directory }, runId) => {
      // Throws if the first records could not be written.
      await opened.journal.commit();
      await opened.release();
      return { runId, directory };
    },
  });
}

/** A run that is recorded, and that no process executes yet. */
export interface SubmittedRun {
  readonly runId: string;
  /** The run's directory in the home, absolute. */
  readonly directory: string;
}

/** What happens to a recorded run. */
interface Starting<T> {
  readonly control: ReturnType<typeof controlRun>;
  /** When the run enters its concurrency group. */
  readonly enters: 'when-it-has-a-place' | 'unless-it-queues';
  act(execution: ExecuteOptions, runId: string): Promise<T>;
}

function start<T>(given: StartRunOptions, starting: Starting<T>): Promise<Result<T, RunError>> {
  const options = numberEvents(withDefaults(given), given.runId ?? createRunId());
  return rejectDiskErrors(options.home, () => announceAndOpen(options, starting));
}

async function announceAndOpen<T>(
  options: NumberedOptions<StartRunOptions>,
  starting: Starting<T>,
): Promise<Result<T, RunError>> {
  const reused = options.reuse && (await checkReuse(options.reuse, options));
  if (reused && !reused.ok) return reused;
  const { runId } = options;
  const begun = { runId, reused: reused?.value };
  const { volumes, concurrency, name } = options.plan.pipeline;
  // Any other run has a journal shortly after it has searched for results to reuse.
  const isBrief = !concurrency && Object.values(volumes).every(({ source }) => source === undefined);
  if (isBrief) return open(options, { ...begun, starting });
  const reuses = reused?.value.reuse.runId;
  const announced = await announceStart(options, {
    ...{ runId, pipeline: name, createdAt: options.clock.now() },
    ...(reuses !== undefined && { reuses }),
  });
  try {
    return await open(options, { ...begun, starting, announced });
  } finally {
    await announced.end();
  }
}

interface Opening<T> {
  readonly runId: string;
  readonly starting: Starting<T>;
  readonly reused: { readonly reuse: Reuse; readonly plannedTime: number } | undefined;
  readonly announced?: StartAnnouncement;
}

/** Provisions the run, waits for its concurrency group, and starts it. */
async function open<T>(
  options: NumberedOptions<StartRunOptions>,
  { runId, starting, reused, announced }: Opening<T>,
): Promise<Result<T, RunError>> {
  const { plan, clock, disk, home } = options;
  const provisioned = await provisionRun({ ...options, runId });
  if (!provisioned.ok) return provisioned;
  await announced?.volumesReady(provisioned.value.volumes);
  const directory = runDirectory(home, runId);
  const rejectBegun = ({ records }: FoundJournal): RunError | undefined =>
    records.some(({ kind }) => kind === 'run')
      ? { code: 'RUN_IN_USE', message: `could not start run ${runId}: it has begun already` }
      : undefined;
  const openOwn = async () => {
    // The plan is written after the directory is claimed: until the run has begun, everything in the directory has a
    // holder.
    const held = await openJournal(directory, { disk, clock, control: starting.control.listener, reject: rejectBegun });
    if (held.ok) await releaseOnFailure(held.value, () => writePlan(disk, directory, plan));
    return held;
  };
  const plannedTime = options.plannedTime ?? reused?.plannedTime ?? clock.wall();
  const group = resolveGroup(plan, { runId, plannedTime });
  if (!group.ok) return group;
  const isQueued = plan.pipeline.concurrency?.overlap === 'queue';
  const entersNow = starting.enters === 'when-it-has-a-place' || !isQueued;
  const opened = await (group.value === undefined || !entersNow
    ? openOwn()
    : enterGroup({ ...options, runId, group: group.value, mode: 'start', cancelLeft: cancelLeft(options) }, openOwn));
  if (!opened.ok) return opened;
  return releaseOnFailure(opened.value, async () => {
    const execution = await begin(options, {
      ...{ runId, plannedTime, directory, startsNow: starting.enters === 'when-it-has-a-place' },
      ...{ opened: opened.value, provisioned: provisioned.value, reuse: reused?.reuse },
    });
    return ok(await starting.act(execution, runId));
  });
}

interface Beginning {
  readonly runId: string;
  readonly plannedTime: number;
  readonly directory: string;
  /** This process executes it, and does not leave it to another one. */
  readonly startsNow: boolean;
  readonly opened: OpenJournal;
  readonly provisioned: ProvisionedRun;
  readonly reuse: Reuse | undefined;
}

/** Records what the run is. */
async function begin(options: NumberedOptions<StartRunOptions>, given: Beginning): Promise<ExecuteOptions> {
  const { plan, disk } = options;
  const { runId, plannedTime, directory, startsNow, opened, provisioned, reuse } = given;
  const facts = createRunFacts(plan);
  const moves: MoveListener = {};
  const durations = await readDurations(disk, options.home, plan.pipeline.name);
  const { placement, instanceTypes } = provisioned;
  const run = describeRun({ runId, plan, plannedTime });
  const warn = (message: string) => options.report({ type: 'warning', at: options.clock.now(), message });
  const images = await resolveImages({ ...options, home: options.scope, placement, instanceTypes, run, warn });
  // The journal's clock: a process that died before it wrote the header may have opened the journal already.
  const timed = { ...options, clock: opened.clock };
  const header = createHeader(timed, { runId, plannedTime, placement, instanceTypes, durations, reuse, images });
  for (const record of [header, { kind: 'volumes', volumes: provisioned.volumes } as const]) {
    applyRecord(facts, record);
    opened.journal.append(record);
  }
  // A run with a summary has begun. If the journal cannot be written, the loop reports it.
  const hasBegun = await opened.journal.commit().then(
    () => true,
    () => false,
  );
  if (hasBegun)
    await writeSummary(disk, directory, { ...summarize(facts), ...(startsNow && { startedAt: header.at }) });
  return {
    options,
    directory,
    plan,
    opened,
    facts,
    scheduler: createRunScheduler(plan, header, moves),
    moves,
    instanceTypes: provisioned.instanceTypes,
    workspace: provisioned.workspace,
    resumed: false,
  };
}
