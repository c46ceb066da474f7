import path from 'node:path';
import { fail, ok, type Plan, type Result } from '@sluice/core';
import type { Disk } from '../journal/disk.ts';
import type { JournalRecord } from '../journal/journal-record.ts';
import { readJournal } from '../journal/read-journal.ts';
import { createSystemDisk } from '../journal/system-disk.ts';
import { findRunId } from '../record/find-run-id.ts';
import { type MoveListener, replayRun } from '../record/replay-run.ts';
import type { RunFacts } from '../record/run-facts.ts';
import { readPlan, runDirectory } from '../record/run-home.ts';
import type { RunRefusal } from '../record/run-refusal.ts';
import { readSummary } from '../record/run-summary.ts';
import type { Scheduler } from '../scheduler/scheduler.ts';
import { createReport } from './create-report.ts';
import { endMessage } from './end-message.ts';
import type { RunPhase, RunReport } from './run-report.ts';
import { describeServiceHold, findServiceHold } from './service-hold.ts';

/** A run given back from its journal, for looking at. */
export interface ReplayedRun {
  readonly runId: string;
  readonly directory: string;
  readonly facts: RunFacts;
  readonly scheduler: Scheduler;
}

/**
 * The run as its journal tells it, by replay; `runId` may be shortened to an unambiguous prefix. Takes no lock and
 * changes nothing.
 */
export async function readRun(
  home: string,
  runId: string,
  disk: Disk = createSystemDisk(),
): Promise<Result<RunReport, RunRefusal>> {
  const replayed = await replayFromHome(disk, path.resolve(home), runId);
  if (!replayed.ok) return replayed;
  const { facts } = replayed.value;
  const status = await readPhase(disk, replayed.value);
  const hold = facts.finished ? undefined : findServiceHold(replayed.value);
  return ok(createReport(replayed.value, status, endMessage(facts, status) ?? (hold && describeServiceHold(hold))));
}

/** What a run has written down of itself. */
export interface RunFiles {
  readonly runId: string;
  readonly directory: string;
  readonly plan: Plan;
  readonly records: readonly JournalRecord[];
}

/** Reads a run's plan and journal and replays them. */
export async function replayFromHome(
  disk: Disk,
  home: string,
  prefix: string,
): Promise<Result<ReplayedRun, RunRefusal>> {
  const files = await readRunFiles(disk, home, prefix);
  return files.ok ? replayFiles(files.value) : files;
}

/** Replays what was read; `moves` hears of it. */
export function replayFiles(files: RunFiles, moves?: MoveListener): Result<ReplayedRun, RunRefusal> {
  const { runId, directory, plan, records } = files;
  const replayed = replayRun(plan, records, moves);
  return replayed ? ok({ runId, directory, ...replayed }) : fail(notBegun(runId));
}

/** Where the run stands: over, driven by a living runner, or left. */
export async function readPhase(disk: Disk, { facts, directory }: ReplayedRun): Promise<RunPhase> {
  if (facts.finished) return facts.finished.status;
  return (await disk.ask(directory, '')) === undefined ? 'suspended' : 'active';
}

/** Reads a run's plan and journal; takes no lock and changes nothing. */
export async function readRunFiles(disk: Disk, home: string, prefix: string): Promise<Result<RunFiles, RunRefusal>> {
  const found = await findRunId(disk, home, prefix);
  if (!found.ok) return found;
  const runId = found.value;
  const directory = runDirectory(home, runId);
  const plan = await readPlan(disk, directory);
  const content = await readJournal(disk, directory);
  if (!content.ok) {
    return fail({ code: 'JOURNAL_DAMAGED', message: `could not read the journal of run ${runId}: ${content.error}` });
  }
  const { records } = content.value;
  if (!plan) return fail(notBegun(runId));
  const isLost = records.every(({ kind }) => kind !== 'run') && (await readSummary(disk, directory)) !== undefined;
  return isLost
    ? fail({ code: 'JOURNAL_LOST', message: describeLostJournal(runId) })
    : ok({ runId, directory, plan, records });
}

/** What is said of a run that has begun, and whose journal does not say what it is. */
export function describeLostJournal(runId: string): string {
  return `the journal of run ${runId} is missing, or damaged from its beginning`;
}

function notBegun(runId: string): RunRefusal {
  return { code: 'RUN_NOT_FOUND', message: `run ${runId} was interrupted before it began` };
}
