import { isServiceError, type Scope } from '@sluice/client';
import { fail, ok, type Plan, type Result } from '@sluice/core';
import { findLogin } from '../data/open-workspace.ts';
import { isRunId } from '../identity/run-id.ts';
import type { JournalRecord } from '../journal/journal-record.ts';
import { type OpenJournal, openJournal } from '../journal/open-journal.ts';
import { applyRecord } from '../run/apply-record.ts';
import { refuseDiskErrors } from '../run/disk-error.ts';
import { prepareSurroundings } from '../run/prepare-surroundings.ts';
import { type FilledOptions, withDefaults } from '../run/run-defaults.ts';
import { createRunFacts } from '../run/run-facts.ts';
import { readPlan, runDirectory, writePlan } from '../run/run-home.ts';
import type { RunnerOptions, RunRefusal } from '../run/run-options.ts';
import { summarize, writeSummary } from '../run/run-summary.ts';
import { DEFAULT_MAX_IN_FLIGHT } from '../run/start-run.ts';
import { openScheduleRecords } from '../schedule/schedule-record.ts';
import { adoptedKey } from '../submission/adopted-attempt.ts';
import { findGoneStep } from './find-gone-step.ts';
import { findRunContainers, type RunContainer } from './find-run-containers.ts';

export interface AdoptRunOptions extends RunnerOptions {
  /** The whole ID. */
  readonly runId: string;
  /** Counts only where the home does not have the plan that the run froze at its start. */
  readonly plan: Plan;
  /** Cluster and account that the run works in; no wildcards. */
  readonly scope: Scope;
  /** Directory of the pipeline file. */
  readonly baseDir: string;
}

/** What was found of a run, by its containers' labels; ordered by ID. */
export interface AdoptedContainer {
  readonly step: string;
  readonly cell: string;
  readonly attempt: number;
  readonly phase: string;
}

/**
 * Gives a run whose journal is lost a new one, from its ID, its file and its containers' labels. Starts nothing: whoever
 * resumes the run asks for the container of every attempt before it would make one, so that each is found or was never
 * there, and nothing starts twice.
 */
export function adoptRun(given: AdoptRunOptions): Promise<Result<readonly AdoptedContainer[], RunRefusal>> {
  const options = withDefaults(given);
  return refuseDiskErrors(options.home, () => adopt(options));
}

async function adopt(
  options: FilledOptions<AdoptRunOptions>,
): Promise<Result<readonly AdoptedContainer[], RunRefusal>> {
  const { runId, service, scope, disk, home } = options;
  if (!isRunId(runId)) return fail({ code: 'RUN_NOT_FOUND', message: `${runId} is not the ID of a run` });
  const found = await findContainers(options);
  if (!found.ok) return found;
  if (found.value.length === 0) {
    const message = `the service has no container of run ${runId} in ${scope.clusterID}/${scope.accountID}`;
    return fail({ code: 'RUN_NOT_FOUND', message });
  }
  const directory = runDirectory(home, runId);
  const plan = (await readPlan(disk, directory)) ?? options.plan;
  const fault = findMismatch(plan, found.value) ?? (await findMissingLogin(options, found.value));
  if (fault !== undefined) return fail({ code: 'NOT_ADOPTABLE', message: `could not adopt run ${runId}: ${fault}` });
  const surroundings = await prepareSurroundings({ ...options, service, plan });
  if (!surroundings.ok) return surroundings;
  const afterEpoch = Math.max(...found.value.map(({ epoch }) => epoch));
  const opened = await openJournal(directory, { ...options, lost: { afterEpoch } });
  if (!opened.ok) return opened;
  try {
    if (opened.value.records.some(({ kind }) => kind === 'run')) {
      const message = `run ${runId} has its journal; go on with: sluice resume ${runId}`;
      return fail({ code: 'RUN_KNOWN', message });
    }
    const { volumes } = surroundings.value;
    await writeBeginning(options, { plan, directory, opened: opened.value, volumes, found: found.value });
  } finally {
    await opened.value.release();
  }
  return ok(
    found.value.map(({ name, container }) => ({
      step: name.step,
      cell: name.cell,
      attempt: name.attempt,
      phase: container.phase ?? 'unknown',
    })),
  );
}

async function findContainers({
  service,
  scope,
  runId,
}: AdoptRunOptions): Promise<Result<readonly RunContainer[], RunRefusal>> {
  try {
    return ok(await findRunContainers(service, scope, runId));
  } catch (error) {
    if (!isServiceError(error)) throw error;
    const away = isServiceError(error, 'UNREACHABLE', 'NO_REPLY', 'UNAVAILABLE', 'INVALID_REPLY');
    return fail({ code: away ? 'SERVICE_UNREACHABLE' : 'SERVICE_REFUSED', message: error.message });
  }
}

/** Why these containers cannot be those of the plan, or why the plan cannot go on from them. */
function findMismatch(plan: Plan, found: readonly RunContainer[]): string | undefined {
  const steps = new Map(plan.steps.map((planned) => [planned.step.name, planned]));
  for (const { name, container } of found) {
    const step = steps.get(name.step);
    if (!step) return `its container ${container.id} is of step ${name.step}, which the file does not have`;
    if (step.cells && !step.cells.some(({ key }) => key === name.cell)) {
      return `its container ${container.id} is of cell ${name.cell} of step ${name.step}, which the file does not have with these parameters`;
    }
  }
  const gone = findGoneStep(plan, new Set(found.map(({ name }) => name.step)));
  if (gone === undefined) return undefined;
  return `step ${gone} has succeeded, since steps after it were started, but the service has forgotten its container; to go on would start it again`;
}

/** The workspace's login is given once, to the home that made it: without it nothing can be published. */
async function findMissingLogin(
  options: FilledOptions<AdoptRunOptions>,
  found: readonly RunContainer[],
): Promise<string | undefined> {
  const { runId, home } = options;
  const mounts = found.flatMap(({ container }) => Object.keys(container.volumeMounts ?? {}));
  const volumeID = mounts.find((key) => key.split(':')[1]?.startsWith(`runs/${runId}/`))?.split(':')[0];
  if (volumeID === undefined || (await findLogin(options, volumeID))) return undefined;
  return `the login of its workspace ${volumeID} is not in ${home}; only the home that started the run has it`;
}

async function writeBeginning(
  options: FilledOptions<AdoptRunOptions>,
  given: {
    readonly plan: Plan;
    readonly directory: string;
    readonly opened: OpenJournal;
    readonly volumes: Extract<JournalRecord, { kind: 'volumes' }>['volumes'];
    readonly found: readonly RunContainer[];
  },
): Promise<void> {
  const { disk, clock, runId, scope, baseDir } = options;
  const { plan, directory, opened, volumes, found } = given;
  const attempts: Record<string, number> = {};
  for (const { name } of found) {
    attempts[adoptedKey(name)] = Math.max(attempts[adoptedKey(name)] ?? 0, name.attempt);
  }
  const at = clock.now();
  const scheduler = { maxInFlight: options.maxInFlight ?? DEFAULT_MAX_IN_FLIGHT, seed: runId };
  const { name: pipeline } = plan.pipeline;
  const scheduled = await openScheduleRecords(disk, { home: options.home, name: pipeline }).listNewest();
  const plannedTime = scheduled.find((one) => one.verdict === 'start' && one.runId === runId)?.planned ?? at;
  const records: JournalRecord[] = [
    { kind: 'run', format: 1, runId, pipeline, at, plannedTime, ...scope, baseDir, scheduler },
    { kind: 'volumes', volumes },
    { kind: 'adopted', at, attempts },
  ];
  const facts = createRunFacts(plan);
  for (const record of records) {
    applyRecord(facts, record);
    opened.journal.append(record);
  }
  await writePlan(disk, directory, plan);
  await opened.journal.commit();
  await writeSummary(disk, directory, summarize(facts));
}
