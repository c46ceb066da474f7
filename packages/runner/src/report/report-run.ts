import path from 'node:path';
import { ok, type Result } from '@sluice/core';
import { createSystemClock } from '../clock.ts';
import { createSystemDisk } from '../journal/system-disk.ts';
import type { RunRefusal } from '../record/run-refusal.ts';
import { createReport } from './create-report.ts';
import { createDetailedReport, type DetailedReport } from './detailed-report.ts';
import { endMessage } from './end-message.ts';
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
): Promise<Result<{ readonly report: DetailedReport; readonly files: ReportFiles }, RunRefusal>> {
  const disk = createSystemDisk();
  const replayed = await replayFromHome(disk, path.resolve(options.home), options.runId);
  if (!replayed.ok) return replayed;
  const { facts, directory } = replayed.value;
  const status = await readPhase(disk, replayed.value);
  const report = createDetailedReport(replayed.value, {
    report: createReport(replayed.value, status, endMessage(facts, status)),
    now: createSystemClock().now(),
  });
  const files = await writeReport(report, { disk, directory: options.to ?? directory });
  return ok({ report, files });
}
