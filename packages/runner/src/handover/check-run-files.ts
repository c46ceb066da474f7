import { readFile } from 'node:fs/promises';
import path from 'node:path';
import type { Scope } from '@sluice/client';
import { identifierSchema } from '@sluice/client';
import { fail, ok, own, type Plan, type Result } from '@sluice/core';
import { isRunId } from '../identity/run-id.ts';
import type { JournalRecord } from '../journal/journal-record.ts';
import { parseJournal } from '../journal/parse-journal.ts';
import { createSystemDisk } from '../journal/system-disk.ts';
import { clustersOf } from '../record/place-of.ts';
import { replayRun } from '../record/replay-run.ts';
import { readPlan } from '../record/run-home.ts';
import { type StoredSummary, summarize } from '../record/run-summary.ts';
import { type HandedPlan, handedPlanSchema } from './handed-plan.ts';

/** A run whose files were written elsewhere, and can be executed here. */
export interface CheckedRun {
  /** The cells that are known; one for a step whose cells are not. */
  readonly cells: number;
  readonly summary: StoredSummary;
  readonly plan: Plan;
  /** In milliseconds since the epoch. */
  readonly plannedTime: number;
  /** The volume that holds the files of the run. */
  readonly workspaceId?: string;
}

/**
 * Checks the files of a run before a process that does not trust their author executes it: that they describe an unended
 * run of this ID and account, need nothing of the author's machine, and contain no name that leads out of the home.
 */
export async function checkRunFiles(
  directory: string,
  { runId, scope }: { readonly runId: string; readonly scope: Scope },
): Promise<Result<CheckedRun, string>> {
  const handed = await readHandedPlan(directory);
  if (!handed.ok) return handed;
  const bytes = await readFile(path.join(directory, 'journal.ndjson'));
  const journal = parseJournal(bytes);
  if (!journal.ok) return fail(`the journal cannot be read: ${journal.error}`);
  const { records, size } = journal.value;
  if (size < bytes.length) return fail(`the journal has an incomplete line at byte ${size}`);
  const fault = findHeaderFault(records, { runId, scope, pipeline: handed.value.pipeline.name });
  if (fault !== undefined) return fail(fault);
  const volumes = records.flatMap((record) => (record.kind === 'volumes' ? [record.volumes] : []));
  const places = Object.assign({}, ...volumes) as (typeof volumes)[number];
  const missing = Object.keys(handed.value.pipeline.volumes).find((name) => !Object.hasOwn(places, name));
  if (volumes.length === 0 || missing !== undefined) {
    return fail(`the journal has no place of volume ${missing ?? 'records'}: its source was not uploaded`);
  }
  const volumeIDs = Object.values(places).map(({ volumeID }) => volumeID);
  const unsafe = volumeIDs.find((id) => !identifierSchema.safeParse(id).success) ?? findUnsafe(records);
  if (unsafe !== undefined) return fail(`the journal contains an invalid value: ${unsafe.slice(0, 100)}`);
  const replayed = await replay(directory, records);
  const workspace = own(places, '');
  return replayed.ok ? ok({ ...replayed.value, ...(workspace && { workspaceId: workspace.volumeID }) }) : replayed;
}

async function readHandedPlan(directory: string): Promise<Result<HandedPlan, string>> {
  let parsed: ReturnType<typeof handedPlanSchema.safeParse>;
  try {
    parsed = handedPlanSchema.safeParse(JSON.parse(await readFile(path.join(directory, 'plan.json'), 'utf8')));
  } catch {
    return fail('the plan is not JSON');
  }
  if (!parsed.success) return fail(`the plan is invalid at ${parsed.error.issues[0]?.path.join('.') ?? ''}`);
  const { pipeline, steps } = parsed.data;
  const count = pipeline.steps.length + pipeline.finally.length;
  const isComplete =
    steps.length === count &&
    steps.every(({ index, dependencies }, at) => index === at && dependencies.every(({ on }) => on < count));
  if (!isComplete) return fail('the plan has steps that its pipeline does not have');
  const command = pipeline.notify.findIndex((one) => one.command !== undefined);
  if (command >= 0) return fail(`notify.${command}.command: a server runs no commands; use \`webhook\``);
  return ok(parsed.data);
}

function findHeaderFault(
  records: readonly JournalRecord[],
  { runId, scope, pipeline }: { readonly runId: string; readonly scope: Scope; readonly pipeline: string },
): string | undefined {
  const headers = records.filter((record) => record.kind === 'run');
  const [header] = headers;
  if (header === undefined || headers.length > 1) return 'the journal has not exactly one first record';
  if (header.runId !== runId || header.pipeline !== pipeline) return 'the journal belongs to another run';
  if (typeof header.baseDir !== 'string') return 'the journal has no directory of the pipeline file';
  const accounts = [header.accountID, ...Object.values(header.placement?.accounts ?? {})];
  const isOwn =
    clustersOf(header).every((one) => one === scope.clusterID) && accounts.every((one) => one === scope.accountID);
  if (!isOwn) return `the run uses other accounts than ${scope.clusterID}/${scope.accountID}`;
  if (records.some(({ kind }) => kind === 'finished')) return 'the run has ended';
  return undefined;
}

/** Values of the journal that are used in local paths, or as the name of another run. */
function findUnsafe(records: readonly JournalRecord[]): string | undefined {
  for (const record of records) {
    if (record.kind === 'intent' && !identifierSchema.safeParse(record.id).success) return String(record.id);
    if (record.kind === 'log' && record.file !== undefined && !/^logs\/[a-z0-9-]+\.log$/.test(record.file))
      return String(record.file);
    const found = findForeignRun(record);
    if (found !== undefined) return found;
  }
  return undefined;
}

const RUN_KEYS: ReadonlySet<string> = new Set(['runId', 'latest', 'rerunOf']);

/** Results are data of the user, in which these keys mean nothing. */
function findForeignRun(value: unknown, key = ''): string | undefined {
  if (RUN_KEYS.has(key) && !(typeof value === 'string' && isRunId(value))) return String(value);
  if (key === 'results' || key === 'matrix' || key === 'item') return undefined;
  if (typeof value !== 'object' || value === null) return undefined;
  for (const [name, one] of Object.entries(value)) {
    const found = findForeignRun(one, name);
    if (found !== undefined) return found;
  }
  return undefined;
}

async function replay(directory: string, records: readonly JournalRecord[]): Promise<Result<CheckedRun, string>> {
  let plan: Plan | undefined;
  let replayed: ReturnType<typeof replayRun>;
  try {
    plan = await readPlan(createSystemDisk(), directory);
    replayed = plan && replayRun(plan, records);
  } catch (error) {
    return fail(`the journal does not describe a run of this plan: ${(error as Error).message}`);
  }
  if (plan === undefined || replayed === undefined) return fail('the plan cannot be read');
  const cells = plan.steps.reduce((sum, { cells: known }) => sum + (known?.length ?? 1), 0);
  const header = replayed.facts.header!;
  return ok({ cells, summary: summarize(replayed.facts), plan, plannedTime: header.plannedTime ?? header.at });
}
