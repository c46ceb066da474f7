import path from 'node:path';
import { fail, ok, type Result } from '@sluice/core';
import {
  createReport,
  describeServiceHold,
  endMessage,
  findServiceHold,
  notBegun,
  type ReplayedRun,
  type RunError,
  type RunFiles,
  type RunPhase,
  type RunReport,
  replayFiles,
} from '@sluice/run';
import { createSystemClock } from '../clock.ts';
import { askPhase } from '../journal/ask-phase.ts';
import { isOnServer } from '../journal/custody.ts';
import type { Disk } from '../journal/disk.ts';
import { readJournal } from '../journal/read-journal.ts';
import { createSystemDisk } from '../journal/system-disk.ts';
import { findRunId } from './find-run-id.ts';
import { readPlan, rejectUnreadablePlan, runDirectory } from './run-home.ts';
import { readSummary } from './run-summary.ts';

/**
 * Replays a run's journal and returns its report; `runId` may be shortened to an unambiguous prefix. Takes no lock and
 * changes nothing.
 */
export async function readRun(
  home: string,
  runId: string,
  disk: Disk = createSystemDisk(),
): Promise<Result<RunReport, RunError>> {
  const replayed = await replayFromHome(disk, path.resolve(home), runId);
  if (!replayed.ok) return replayed;
  const { facts } = replayed.value;
  const status = await readPhase(disk, replayed.value);
  const hold = facts.finished ? undefined : findServiceHold(replayed.value);
  const source = { ...replayed.value, now: createSystemClock().now() };
  return ok(createReport(source, status, endMessage(facts, status) ?? (hold && describeServiceHold(hold))));
}

/** Reads a run's plan and journal and replays them; `prefix` is that of its ID. */
export async function replayFromHome(disk: Disk, home: string, prefix: string): Promise<Result<ReplayedRun, RunError>> {
  const files = await readRunFiles(disk, home, prefix);
  return files.ok ? replayFiles(files.value) : files;
}

/** The status of a finished run; otherwise which process has it. */
export async function readPhase(disk: Disk, { facts, directory }: ReplayedRun): Promise<RunPhase> {
  if (facts.finished) return facts.finished.status;
  const phase = await askPhase(disk, directory);
  const isHosted = phase === 'running' && (await isOnServer({ disk, directory }));
  if (phase !== 'suspended' && !isHosted) return phase;
  const status = (await readSummary(disk, directory))?.status;
  if (status === undefined) return phase;
  // If its process has ended the run since the journal was read, it was running at that time.
  if (!isHosted) return 'running';
  // A server that has removed the run has reported its end; nothing more is copied.
  const journal = await readJournal(disk, directory);
  return journal.ok && !journal.value.records.some(({ kind }) => kind === 'finished') ? status : 'running';
}

/** Reads a run's plan and journal; takes no lock and changes nothing. */
export async function readRunFiles(disk: Disk, home: string, prefix: string): Promise<Result<RunFiles, RunError>> {
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
  if (!plan.ok) return fail(rejectUnreadablePlan(runId, plan.error));
  if (!plan.value) return fail(notBegun(runId));
  const isLost = records.every(({ kind }) => kind !== 'run') && (await readSummary(disk, directory)) !== undefined;
  return isLost
    ? fail({ code: 'JOURNAL_LOST', message: describeLostJournal(runId) })
    : ok({ runId, directory, plan: plan.value, records });
}

/** The message about a run that has started, but whose journal lacks the first record. */
export function describeLostJournal(runId: string): string {
  return `the journal of run ${runId} is missing, or damaged from its beginning`;
}
