import { listRuns, type RunSummary, readRun } from '@sluice/runner';
import { type RecordedOptions, readRecordedCommand } from '../runs/recorded-command.ts';

/** The options of the newest run of a schedule; none if it has no run yet. `runs` are those of the home, newest first. */
export async function findScheduleOptions(
  home: string,
  name: string,
  runs?: readonly RunSummary[],
): Promise<RecordedOptions> {
  const newest = (runs ?? (await listRuns(home))).find((run) => run.pipeline === name && run.problem === undefined);
  const report = newest && (await readRun(home, newest.runId));
  return report?.ok && report.value.rerun !== undefined ? readRecordedCommand(report.value.rerun).options : {};
}
