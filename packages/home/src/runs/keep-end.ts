import { countCells, createDetailedReport, type ReportSource, type RunReport } from '@sluice/run';
import type { Disk } from '../journal/disk.ts';
import { keepDurations } from './known-durations.ts';
import { summarize, writeSummary } from './run-summary.ts';
import { writeReport } from './write-report.ts';

/**
 * Writes the files of a finished run other than its journal: the report, the summary and the durations. The summary marks
 * the run as finished: if the process crashes before, the next resume writes them again.
 */
export async function keepEnd(
  source: ReportSource & { readonly disk: Disk; readonly home: string },
  { report, now }: { readonly report: RunReport; readonly now: number },
): Promise<void> {
  const { disk, home, directory, facts } = source;
  await writeReport(createDetailedReport(source, { report, now }), { disk, directory });
  await writeSummary(disk, directory, { ...summarize(facts), counts: countCells(source) });
  await keepDurations(disk, home, facts);
}
