import path from 'node:path';
import { fail, ok, type Result } from '@sluice/core';
import type { Disk } from '../journal/disk.ts';
import { journalPath } from '../journal/open-journal.ts';
import { readJournal } from '../journal/read-journal.ts';
import { createSystemDisk } from '../journal/system-disk.ts';
import type { Scheduler } from '../scheduler/scheduler.ts';
import { createReport } from './create-report.ts';
import { endMessage } from './end-message.ts';
import { findRun } from './find-run.ts';
import { replayRun } from './replay-run.ts';
import type { RunFacts } from './run-facts.ts';
import { readPlan, runDirectory } from './run-home.ts';
import type { RunRefusal } from './run-options.ts';
import type { RunReport } from './run-report.ts';

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
  const { facts, directory } = replayed.value;
  const isDriven = !facts.finished && (await disk.ask(directory, '')) !== undefined;
  const status = facts.finished?.status ?? (isDriven ? 'active' : 'suspended');
  return ok(createReport(replayed.value, status, endMessage(facts)));
}

/** Reads a run's plan and journal and replays them. */
export async function replayFromHome(
  disk: Disk,
  home: string,
  prefix: string,
): Promise<Result<ReplayedRun, RunRefusal>> {
  const found = await findRun(disk, home, prefix);
  if (!found.ok) return found;
  const runId = found.value;
  const directory = runDirectory(home, runId);
  const plan = await readPlan(disk, directory);
  const content = readJournal((await disk.read(journalPath(directory))) ?? new Uint8Array());
  if (!content.ok) {
    return fail({ code: 'JOURNAL_DAMAGED', message: `could not read the journal of run ${runId}: ${content.error}` });
  }
  const replayed = plan && replayRun(plan, content.value.records);
  if (!replayed) return fail({ code: 'RUN_NOT_FOUND', message: `run ${runId} had not begun when it was left` });
  return ok({ runId, directory, ...replayed });
}
