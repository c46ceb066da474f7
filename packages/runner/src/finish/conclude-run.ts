import type { Plan } from '@sluice/core';
import type { OpenJournal } from '../journal/open-journal.ts';
import { createReport } from '../report/create-report.ts';
import { endMessage } from '../report/end-message.ts';
import type { ReportSource } from '../report/report-source.ts';
import type { RunStatus } from '../scheduler/model/command.ts';
import { createRedactor } from '../session/create-redactor.ts';
import type { FilledOptions } from '../session/run-defaults.ts';
import type { ResumeRunOptions, RunHandle } from '../session/run-options.ts';
import { keepEnd } from './keep-end.ts';

/** A run whose journal contains its end, opened by this process. */
export interface EndedRun extends ReportSource {
  readonly plan: Plan;
  readonly opened: OpenJournal;
  readonly status: RunStatus;
}

/**
 * Finishes a run whose runner crashed after writing the last record of the journal: writes report and summary, and closes
 * the journal. Everything else was done before that record.
 */
export async function concludeRun(options: FilledOptions<ResumeRunOptions>, ended: EndedRun): Promise<RunHandle> {
  const { clock, disk, home, runId } = options;
  const { directory, facts, opened, plan, status } = ended;
  const report = createReport(ended, status, endMessage(facts, status));
  await keepEnd({ ...ended, disk, home }, { report, now: clock.now() });
  await opened.release();
  const { data } = createRedactor(plan, options.secrets ?? (() => undefined));
  options.reporter?.report(data({ type: 'runFinished', at: clock.now(), report }));
  return {
    runId,
    directory,
    finished: Promise.resolve(report),
    cancel() {},
    detach: () => Promise.resolve(),
    approve: () => false,
  };
}
