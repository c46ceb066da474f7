import type { AttemptReport } from '../../src/schemas/attempt.ts';
import type { FailureReport } from '../../src/schemas/failure.ts';
import type { DetailedReport } from '../../src/schemas/run-report.ts';

/** A run in a chain of steps, each with one attempt; the last has failed with this log line. */
export function createSampleReport({ steps, logLine }: { steps: number; logLine: string }): DetailedReport {
  const names = Array.from({ length: steps }, (_, index) => `s${index}`);
  const attempts = names.map((step, index): AttemptReport => {
    const at = index * 1_000;
    const isLast = index === steps - 1;
    const times = { readyAt: at, requestedAt: at + 10, submittedAt: at + 20, runningAt: at + 100, endedAt: at + 1_000 };
    const end = isLast
      ? ({ status: 'failed', reason: 'failed', exitCode: 3, message: logLine } as const)
      : { status: 'succeeded' as const };
    return {
      step,
      cell: '',
      attempt: 1,
      ...end,
      clusterId: 'c',
      instanceType: 'small',
      containerId: `x${index}`,
      ...times,
      postponed: 0,
    };
  });
  const last = names.at(-1)!;
  const failure: FailureReport = {
    step: last,
    cell: '',
    attempt: 1,
    status: 'failed',
    reason: 'failed',
    message: logLine,
    logTail: [logLine],
  };
  return {
    runId: 'r1',
    pipeline: 'sample',
    status: 'failed',
    createdAt: 0,
    startedAt: 0,
    endedAt: steps * 1_000,
    madeAt: steps * 1_000,
    clusterId: 'c',
    accountId: 'a',
    params: { word: logLine },
    steps: names.map((name) => {
      const isLast = name === last;
      const status = isLast ? ({ status: 'failed', reason: 'failed' } as const) : ({ status: 'succeeded' } as const);
      return {
        step: name,
        ...status,
        cells: [{ cell: '', ...status, attempt: 1, results: {}, ...(isLast && { message: logLine }) }],
      };
    }),
    failures: [failure],
    outputs: {},
    attempts,
    criticalPath: attempts.map(({ step, readyAt, endedAt }) => ({
      step,
      cell: '',
      readyAt: readyAt!,
      endedAt: endedAt!,
      waitedMs: 100,
    })),
    images: [
      { image: 'sluice-node:1', digest: 'sha256:0123', steps: ['step-0'] },
      { image: 'other:<1>', steps: ['step-1'] },
    ],
    usage: [{ clusterId: 'c', instanceType: 'small', containers: steps, ranMs: 900 * steps, instanceHours: 0.001 }],
    levels: names.map((_, index) => index),
    dependencies: names.map((_, index) => (index === 0 ? [] : [index - 1])),
  };
}
