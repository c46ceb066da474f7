import path from 'node:path';
import { type DetailedReport, joinInBlocks, renderAttemptsCsv, renderReportJson, renderReportPage } from '@sluice/run';
import type { Disk } from '../journal/disk.ts';

/** The paths of a report's files. */
export interface ReportFiles {
  readonly page: string;
  readonly attempts: string;
  readonly data: string;
}

/** Writes a run's report to a directory: `report.html`, `attempts.csv` and `report.json`. */
export async function writeReport(
  report: DetailedReport,
  { disk, directory }: { readonly disk: Disk; readonly directory: string },
): Promise<ReportFiles> {
  const files = {
    page: path.join(directory, 'report.html'),
    attempts: path.join(directory, 'attempts.csv'),
    data: path.join(directory, 'report.json'),
  };
  await Promise.all([
    disk.replace(files.data, encodeInBlocks(renderReportJson(report))),
    disk.replace(files.page, Buffer.from(renderReportPage(report))),
    disk.replace(files.attempts, encodeInBlocks(renderAttemptsCsv(report.attempts, report.madeAt))),
  ]);
  return files;
}

function* encodeInBlocks(parts: Iterable<string>): Generator<Uint8Array> {
  for (const block of joinInBlocks(parts)) yield Buffer.from(block);
}
