import { readFile } from 'node:fs/promises';
import path from 'node:path';
import type { Scope } from '@sluice/client';
import { fail, ok, own, type Plan, type Result } from '@sluice/core';
import { parseJournal, type StoredSummary, summarize } from '@sluice/home';
import {
  clustersOf,
  decodePlan,
  findFormatFault,
  type JournalRecord,
  type KeptPlan,
  type RunFiles,
  replayFiles,
} from '@sluice/run';
import { findPlanFault } from './find-plan-fault.ts';
import { handedPlanSchema } from './handed-plan.ts';
import { handedRecordSchema } from './handed-record.ts';
import { findUnsafeJson } from './handed-values.ts';

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

/** What the files of a run must describe. */
export interface ExpectedRun {
  readonly runId: string;
  readonly scope: Scope;
  /** Of the cells that are known. */
  readonly maxCells?: number;
}

/**
 * Checks the files of a run before a process that does not trust their author executes it: that every value is one that
 * this version could have written, that they describe an unended run of this ID and account, and that they need nothing of
 * the author's machine.
 */
export async function checkRunFiles(directory: string, expected: ExpectedRun): Promise<Result<CheckedRun, string>> {
  const plan = checkPlan(await readFile(path.join(directory, 'plan.json')));
  if (!plan.ok) return plan;
  const journal = await checkJournal(await readFile(path.join(directory, 'journal.ndjson')));
  if (!journal.ok) return journal;
  const records = journal.value;
  const fault = findHeaderFault(records, { ...expected, plan: plan.value });
  if (fault !== undefined) return fail(fault);
  const volumes = records.flatMap((record) => (record.kind === 'volumes' ? [record.volumes] : []));
  const places = Object.assign({}, ...volumes) as (typeof volumes)[number];
  const missing = Object.keys(plan.value.pipeline.volumes).find((name) => !Object.hasOwn(places, name));
  if (volumes.length === 0 || missing !== undefined) {
    return fail(`the journal has no place of volume ${missing ?? 'records'}: its source was not uploaded`);
  }
  const replayed = replay({ runId: expected.runId, directory, plan: plan.value, records });
  const workspace = own(places, '');
  return replayed.ok ? ok({ ...replayed.value, ...(workspace && { workspaceId: workspace.volumeID }) }) : replayed;
}

/** A plan of the present format. Its size is checked before it is decoded: a range may stand for many dependencies. */
function checkPlan(bytes: Uint8Array): Result<Plan, string> {
  try {
    const kept: unknown = JSON.parse(Buffer.from(bytes).toString('utf8'));
    const unsafe = findUnsafeJson(kept);
    if (unsafe !== undefined) return fail(`the plan has ${unsafe}`);
    const format = findFormatFault(kept);
    if (format !== undefined) return fail(`the plan cannot be read: ${format}`);
    const parsed = handedPlanSchema.safeParse(kept);
    if (!parsed.success) return fail(`the plan is no plan: ${describeIssue(parsed.error)}`);
    const plan = decodePlan(kept as KeptPlan);
    const fault = findPlanFault(plan);
    return fault === undefined ? ok(plan) : fail(fault);
  } catch (error) {
    return fail(`the plan is no plan: ${(error as Error).message}`);
  }
}

/** Records that are checked at once: other requests are served between them. */
const AT_ONCE = 500;

async function checkJournal(bytes: Uint8Array): Promise<Result<readonly JournalRecord[], string>> {
  const journal = parseJournal(bytes);
  if (!journal.ok) return fail(`the journal cannot be read: ${journal.error}`);
  const { records, size } = journal.value;
  if (size < bytes.length) return fail(`the journal has an incomplete line at byte ${size}`);
  for (const [index, record] of records.entries()) {
    if (index % AT_ONCE === AT_ONCE - 1) await new Promise((resolve) => setImmediate(resolve));
    const unsafe = findUnsafeJson(record);
    if (unsafe !== undefined) return fail(`record ${index + 1} of the journal has ${unsafe}`);
    const parsed = handedRecordSchema.safeParse(record);
    if (!parsed.success) return fail(`record ${index + 1} of the journal is invalid: ${describeIssue(parsed.error)}`);
  }
  return ok(records);
}

const MAX_SHOWN = 300;

function describeIssue({
  issues: [issue],
}: {
  readonly issues: readonly { readonly path: readonly PropertyKey[]; readonly message: string }[];
}): string {
  return `${issue?.path.join('.')}: ${issue?.message}`.slice(0, MAX_SHOWN);
}

function findHeaderFault(
  records: readonly JournalRecord[],
  { runId, scope, plan, maxCells }: ExpectedRun & { readonly plan: Plan },
): string | undefined {
  const headers = records.filter((record) => record.kind === 'run');
  const [header] = headers;
  if (header === undefined || headers.length > 1) return 'the journal has not exactly one first record';
  if (header.runId !== runId || header.pipeline !== plan.pipeline.name) return 'the journal belongs to another run';
  const accounts = [header.accountID, ...Object.values(header.placement?.accounts ?? {})];
  const isOwn =
    clustersOf(header).every((one) => one === scope.clusterID) && accounts.every((one) => one === scope.accountID);
  if (!isOwn) return `the run uses other accounts than ${scope.clusterID}/${scope.accountID}`;
  const { choices, ofStep } = header.placement ?? { choices: [], ofStep: plan.steps.map(() => 0) };
  const isPlaced =
    ofStep.length === plan.steps.length &&
    (header.placement === undefined || ofStep.every((choice) => choice < choices.length));
  if (!isPlaced) return 'the journal places other steps than those of the plan';
  if (records.some(({ kind }) => kind === 'finished')) return 'the run has ended';
  const decided = records.reduce(
    (sum, record) => sum + (record.kind === 'event' && record.event.type === 'decided' ? record.event.cells : 0),
    0,
  );
  return maxCells !== undefined && decided > maxCells ? `the run has more than ${maxCells} cells` : undefined;
}

function replay(files: RunFiles): Result<CheckedRun, string> {
  const replayed = replayFiles(files);
  if (!replayed.ok) return fail(`the journal does not describe a run of this plan: ${replayed.error.message}`);
  const { facts } = replayed.value;
  const header = facts.header!;
  const cells = facts.cells.reduce((sum, known) => sum + (known?.length ?? 1), 0);
  return ok({ cells, summary: summarize(facts), plan: files.plan, plannedTime: header.plannedTime });
}
