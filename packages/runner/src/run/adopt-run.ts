import { batchesOfPlan, fail, ok, own, type Plan, type Result } from '@sluice/core';
import {
  type FoundJournal,
  isRunId,
  type OpenJournal,
  openJournal,
  openScheduleRecords,
  readPlan,
  readSummary,
  rejectDiskErrors,
  rejectUnreadablePlan,
  runDirectory,
  summarize,
  writePlan,
  writeSummary,
} from '@sluice/home';
import {
  adoptedKey,
  applyRecord,
  createRunFacts,
  type JournalRecord,
  type PlainRecord,
  type RunError,
  type RunPlacement,
} from '@sluice/run';
import { findLogin } from '../data/credentials.ts';
import { findPlacement } from '../placement/find-placement.ts';
import { type NumberedOptions, numberEvents } from '../session/number-events.ts';
import { withDefaults } from '../session/run-defaults.ts';
import type { StartRunOptions } from '../session/run-options.ts';
import { findRunContainers, type RunContainer } from '../watch/find-run-containers.ts';
import { findGoneStep } from './find-gone-step.ts';
import { provisionRun } from './provision-run.ts';
import { createHeader } from './run-header.ts';
import { rejectServiceErrors } from './service-rejection.ts';

/** As for starting the run, except that its ID is known and its containers may exist. */
export interface AdoptRunOptions extends StartRunOptions {
  /** The whole ID. */
  readonly runId: string;
  /** Used only if the home does not have the plan that was frozen when the run started. */
  readonly plan: Plan;
}

/** A container of the run, found by its labels; ordered by ID. */
export interface AdoptedContainer {
  readonly step: string;
  /** `''` for a plain step. */
  readonly cell: string;
  /** From 1. */
  readonly attempt: number;
  /** As the service reports it. */
  readonly phase: string;
}

/**
 * Creates a new journal for a run whose journal is lost, from its ID, its file and its containers' labels. Starts
 * nothing: a resume requests the container of every attempt before it creates one, so each is either found or never
 * existed, and nothing starts twice.
 */
export function adoptRun(given: AdoptRunOptions): Promise<Result<readonly AdoptedContainer[], RunError>> {
  const options = numberEvents(withDefaults(given), given.runId);
  return rejectDiskErrors(options.home, () => adopt(options));
}

async function adopt(
  options: NumberedOptions<AdoptRunOptions>,
): Promise<Result<readonly AdoptedContainer[], RunError>> {
  const { runId, scope, disk, home } = options;
  if (!isRunId(runId)) return fail({ code: 'RUN_NOT_FOUND', message: `${runId} is not the ID of a run` });
  const directory = runDirectory(home, runId);
  const kept = await readPlan(disk, directory);
  if (!kept.ok) return fail(rejectUnreadablePlan(runId, kept.error));
  const plan = kept.value ?? options.plan;
  const looked = await findContainers({ ...options, plan });
  if (!looked.ok) return looked;
  const { found, placement } = looked.value;
  if (found.length === 0) {
    const message = `the service has no container of run ${runId} in ${scope.clusterID}/${scope.accountID}`;
    return fail({ code: 'RUN_NOT_FOUND', message });
  }
  const workspaces = findWorkspaces(found, runId);
  const fault = findMismatch(plan, found) ?? (await findMissingLogin(options, workspaces));
  if (fault !== undefined) return fail({ code: 'NOT_ADOPTABLE', message: `could not adopt run ${runId}: ${fault}` });
  const provisioned = await provisionRun({
    ...options,
    runId,
    plan,
    workspaces,
    ...(placement && { placement }),
  });
  if (!provisioned.ok) return provisioned;
  const afterEpoch = Math.max(...found.map(({ epoch }) => epoch));
  // A run with a lease but without a summary has never begun.
  const beforeLease = async () => {
    if (await readSummary(disk, directory)) return;
    await writeSummary(disk, directory, { ...summarize(createRunFacts(plan)), createdAt: options.clock.wall() });
  };
  const reject = ({ records }: FoundJournal) => rejectKnown(runId, records);
  const opened = await openJournal(directory, { ...options, lost: { afterEpoch, beforeLease }, reject });
  if (!opened.ok) return opened;
  try {
    const { volumes, placement: chosen, instanceTypes } = provisioned.value;
    const plannedTime = await findPlannedTime({ ...options, plan });
    // The journal can have the times of earlier tries, which the machine's clock need not continue.
    const { clock } = opened.value;
    const header = createHeader({ ...options, clock, plan }, { runId, plannedTime, placement: chosen, instanceTypes });
    await writeBeginning({ ...options, clock }, { plan, directory, opened: opened.value, header, volumes, found });
  } finally {
    await opened.value.release();
  }
  return ok(
    found.map(({ name, container }) => ({
      step: name.step,
      cell: name.cell,
      attempt: name.attempt,
      phase: container.phase ?? 'unknown',
    })),
  );
}

function rejectKnown(runId: string, records: readonly JournalRecord[]): RunError | undefined {
  if (records.every(({ kind }) => kind !== 'run')) return undefined;
  return { code: 'RUN_KNOWN', message: `run ${runId} has its journal` };
}

/** Searches every cluster that the run may have used. */
async function findContainers(
  options: NumberedOptions<AdoptRunOptions>,
): Promise<
  Result<{ readonly found: readonly RunContainer[]; readonly placement: RunPlacement | undefined }, RunError>
> {
  const { service, scope, runId, plan, clock } = options;
  return rejectServiceErrors(async () => {
    const placed = await findPlacement(options);
    if (!placed.ok) return placed;
    const { placement } = placed.value;
    const accounts = { ...placement?.accounts, [scope.clusterID]: scope.accountID };
    const found: RunContainer[] = [];
    for (const [clusterID, accountID] of Object.entries(accounts)) {
      found.push(...(await findRunContainers(service, { scope: { clusterID, accountID }, runId, plan, clock })));
    }
    return ok({ found, placement });
  });
}

/** Why these containers cannot belong to the plan, or why the plan cannot continue from them. */
function findMismatch(plan: Plan, found: readonly RunContainer[]): string | undefined {
  const steps = new Map(plan.steps.map((planned) => [planned.step.name, planned]));
  const batches = batchesOfPlan(plan);
  for (const { name, container } of found) {
    const step = steps.get(name.step);
    if (!step) return `its container ${container.id} is of step ${name.step}, which the file does not have`;
    // Which cells a step over a listed axis has is known only when they are listed again.
    const isKnown = step.cells !== undefined && batches[step.index] === undefined;
    if (isKnown && !step.cells!.some(({ key }) => key === name.cell)) {
      return `its container ${container.id} is of cell ${name.cell} of step ${name.step}, which the file does not have with these parameters`;
    }
  }
  const gone = findGoneStep(plan, new Set(found.map(({ name }) => name.step)));
  if (gone === undefined) return undefined;
  return `step ${gone} succeeded, because later steps were started, but the service no longer knows its container; continuing would start it again`;
}

/**
 * The volumes that its containers write to, by cluster: only these have its data, even if others were created since.
 */
function findWorkspaces(found: readonly RunContainer[], runId: string): Readonly<Record<string, string>> {
  const workspaces: Record<string, string> = {};
  for (const { container } of found) {
    const own = Object.keys(container.volumeMounts ?? {}).find((key) =>
      key.split(':')[1]?.startsWith(`runs/${runId}/`),
    );
    if (own !== undefined) workspaces[container.clusterID] = own.split(':')[0]!;
  }
  return workspaces;
}

/** The workspace's login is issued once, to the home that created it: without it nothing can be published. */
async function findMissingLogin(
  options: NumberedOptions<AdoptRunOptions>,
  workspaces: Readonly<Record<string, string>>,
): Promise<string | undefined> {
  for (const volumeID of Object.values(workspaces)) {
    if (await findLogin(options, volumeID)) continue;
    return `the login of its workspace ${volumeID} is not in ${options.home}; only the home that started the run has it`;
  }
  return undefined;
}

/** The time for which a schedule started the run; without a schedule, the time of the adoption. */
async function findPlannedTime({ disk, home, plan, runId, clock }: NumberedOptions<AdoptRunOptions>): Promise<number> {
  const scheduled = await openScheduleRecords(disk, { home, name: plan.pipeline.name }).listCurrent();
  return scheduled.find((one) => one.decision === 'start' && one.runId === runId)?.planned ?? clock.wall();
}

async function writeBeginning(
  options: NumberedOptions<AdoptRunOptions>,
  given: {
    readonly plan: Plan;
    readonly directory: string;
    readonly opened: OpenJournal;
    readonly header: PlainRecord;
    readonly volumes: Extract<JournalRecord, { kind: 'volumes' }>['volumes'];
    readonly found: readonly RunContainer[];
  },
): Promise<void> {
  const { disk, clock } = options;
  const { plan, directory, opened, header, volumes, found } = given;
  const attempts: Record<string, Record<string, string>> = {};
  for (const { name, container } of found) {
    const key = adoptedKey(name);
    attempts[key] = { ...own(attempts, key), [name.attempt]: container.clusterID };
  }
  // The header comes last: a run whose journal has it is resumed, and must then know what was found.
  const records: PlainRecord[] = [{ kind: 'volumes', volumes }, { kind: 'adopted', at: clock.now(), attempts }, header];
  const facts = createRunFacts(plan);
  for (const record of records) {
    applyRecord(facts, record);
    opened.journal.append(record);
  }
  await writePlan(disk, directory, plan);
  await opened.journal.commit();
  await writeSummary(disk, directory, summarize(facts));
}
