import type { Plan } from '@sluice/core';
import { keepEnd, type OpenJournal } from '@sluice/home';
import { createReport, endMessage, type ReportSource, type RunStatus } from '@sluice/run';
import { createRedactor } from '../session/create-redactor.ts';
import type { NumberedOptions } from '../session/number-events.ts';
import type { ResumeRunOptions, RunHandle } from '../session/run-options.ts';
import { openTraceExport } from '../trace/export-traces.ts';

/** A run whose journal contains its end, opened by this process. */
export interface EndedRun extends ReportSource {
  readonly plan: Plan;
  readonly opened: OpenJournal;
  readonly status: RunStatus;
}

/**
 * Finishes a run whose runner crashed after writing the last record of the journal: sends the rest of the trace, writes
 * report and summary, and closes the journal. Everything else was done before that record.
 */
export async function concludeRun(options: NumberedOptions<ResumeRunOptions>, ended: EndedRun): Promise<RunHandle> {
  const { clock, disk, home, runId, traces: sink } = options;
  const { directory, facts, opened, plan, status } = ended;
  const report = createReport(ended, status, endMessage(facts, status));
  const { data } = createRedactor(plan, options.readSecret);
  const warn = (message: string) => options.report(data({ type: 'warning', at: clock.now(), message }));
  if (sink) await openTraceExport({ runId, directory, plan, disk, clock, sink, warn }).finish();
  await keepEnd({ ...ended, disk, home }, { report, now: clock.now() });
  await opened.release();
  options.report(data({ type: 'runFinished', at: clock.now(), report }));
  return {
    runId,
    directory,
    finished: Promise.resolve(report),
    cancel() {},
    suspend: () => Promise.resolve(),
    approve: () => false,
    recorded: async () => false,
  };
}
