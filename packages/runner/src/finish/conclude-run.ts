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

/** A run whose journal holds its end, opened by this process. */
export interface EndedRun extends ReportSource {
  readonly plan: Plan;
  readonly opened: OpenJournal;
  readonly status: RunStatus;
}

/**
 * Finishes a run whose runner died after the last record of its journal: report and summary are written, and the journal
 * is closed. Everything else had been done before that record.
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
