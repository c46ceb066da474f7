import type { AttemptReport } from '../../src/report/attempt-report.ts';
import type { DetailedReport } from '../../src/report/detailed-report.ts';
import type { FailureReport } from '../../src/report/run-report.ts';

/** A run in a chain of steps, each with one attempt; the last has failed with this log line. */
export function createSampleReport({ steps, logLine }: { steps: number; logLine: string }): DetailedReport {
  const names = Array.from({ length: steps }, (_, index) => `s${index}`);
  const attempts = names.map((step, index): AttemptReport => {
    const at = index * 1_000;
    const isLast = index === steps - 1;
    const times = { readyAt: at, askedAt: at + 10, submittedAt: at + 20, runningAt: at + 100, endedAt: at + 1_000 };
    const end = isLast
      ? ({ result: 'failed', class: 'failed', exitCode: 3, message: logLine } as const)
      : { result: 'succeeded' as const };
    return {
      step,
      cell: '',
      attempt: 1,
      ...end,
      clusterID: 'c',
      instanceType: 'small',
      containerID: `x${index}`,
      ...times,
      postponed: 0,
    };
  });
  const last = names.at(-1)!;
  const failure: FailureReport = {
    step: last,
    cell: '',
    attempt: 1,
    class: 'failed',
    message: logLine,
    logTail: [logLine],
  };
  return {
    runId: 'r1',
    pipeline: 'sample',
    status: 'failed',
    startedAt: 0,
    endedAt: steps * 1_000,
    madeAt: steps * 1_000,
    clusterID: 'c',
    accountID: 'a',
    params: { word: logLine },
    steps: names.map((name) => {
      const state = name === last ? 'failed' : 'succeeded';
      return {
        name,
        state,
        cells: [{ key: '', state, attempts: 1, results: {}, ...(name === last && { reason: logLine }) }],
      };
    }),
    failures: [failure],
    outputs: {},
    attempts,
    criticalPath: attempts.map(({ step, readyAt, endedAt }) => ({
      step,
      cell: '',
      from: readyAt!,
      to: endedAt!,
      waited: 100,
    })),
    images: [
      { image: 'sluice-node:1', digest: 'sha256:0123', steps: ['step-0'] },
      { image: 'other:<1>', steps: ['step-1'] },
    ],
    usage: [{ clusterID: 'c', instanceType: 'small', containers: steps, ranMs: 900 * steps, instanceHours: 0.001 }],
    levels: names.map((_, index) => index),
    dependencies: names.map((_, index) => (index === 0 ? [] : [index - 1])),
  };
}
