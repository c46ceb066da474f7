import path from 'node:path';
import { ok, type Result } from '@sluice/core';
import {
  createDetailedReport,
  createReport,
  type DetailedReport,
  endMessage,
  type ReplayedRun,
  type RunError,
} from '@sluice/run';
import { createSystemClock } from '../clock.ts';
import { createSystemDisk } from '../journal/system-disk.ts';
import { readPhase, replayFromHome } from './read-run.ts';
import { type ReportFiles, writeReport } from './write-report.ts';

/** The run to report, and where the files are written. */
export interface ReportRunOptions {
  readonly home: string;
  /** May be shortened to an unambiguous prefix. */
  readonly runId: string;
  /** Directory of the files; default: the run's own directory in the home. */
  readonly to?: string;
}

/** Creates the report of a run from its journal, during the run or after it, and writes its files. */
export async function reportRun(
  options: ReportRunOptions,
): Promise<Result<{ readonly report: DetailedReport; readonly files: ReportFiles }, RunError>> {
  const replayed = await replayFromHome(createSystemDisk(), path.resolve(options.home), options.runId);
  if (!replayed.ok) return replayed;
  const report = await createReportNow(replayed.value);
  const files = await writeReport(report, {
    disk: createSystemDisk(),
    directory: options.to ?? replayed.value.directory,
  });
  return ok({ report, files });
}

/** As `reportRun`, but writes nothing. */
export async function readDetailedReport(home: string, runId: string): Promise<Result<DetailedReport, RunError>> {
  const replayed = await replayFromHome(createSystemDisk(), path.resolve(home), runId);
  return replayed.ok ? ok(await createReportNow(replayed.value)) : replayed;
}

async function createReportNow(replayed: ReplayedRun): Promise<DetailedReport> {
  const status = await readPhase(createSystemDisk(), replayed);
  const now = createSystemClock().now();
  return createDetailedReport(replayed, {
    report: createReport({ ...replayed, now }, status, endMessage(replayed.facts, status)),
    now,
  });
}
