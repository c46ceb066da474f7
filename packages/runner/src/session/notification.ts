import type { RunReport } from '../report/run-report.ts';
import type { RunStatus } from '../scheduler/model/command.ts';

/** What a notification reports about a run's end; `text` is a sentence, as chat systems expect it. */
export interface Notification {
  readonly text: string;
  readonly run: { readonly id: string; readonly name: string; readonly status: RunStatus; readonly message?: string };
  readonly failures: readonly Pick<RunReport['failures'][number], 'step' | 'cell' | 'attempt' | 'class' | 'message'>[];
}
