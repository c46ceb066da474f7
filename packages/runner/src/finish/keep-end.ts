import type { Disk } from '../journal/disk.ts';
import { summarize, writeSummary } from '../record/run-summary.ts';
import { createDetailedReport } from '../report/detailed-report.ts';
import type { ReportSource } from '../report/report-source.ts';
import type { RunReport } from '../report/run-report.ts';
import { writeReport } from '../report/write-report.ts';
import { keepDurations } from './known-durations.ts';

/**
 * Keeps what the home has of a run that is over beside its journal: the report, the summary and the durations. The
 * summary is what marks the run as finished, so a process that dies before it is made up for by the next resume.
 */
export async function keepEnd(
  source: ReportSource & { readonly disk: Disk; readonly home: string },
  { report, now }: { readonly report: RunReport; readonly now: number },
): Promise<void> {
  const { disk, home, directory, facts } = source;
  await writeReport(createDetailedReport(source, { report, now }), { disk, directory });
  await writeSummary(disk, directory, summarize(facts));
  await keepDurations(disk, home, facts);
}
