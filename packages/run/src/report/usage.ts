import type { AttemptReport } from '../schemas/attempt.ts';
import type { Usage } from '../schemas/run-report.ts';
import { ranFor } from './attempt-report.ts';

/** Sums up attempts by cluster and instance type, sorted by these. Attempts that never ran add no time. */
export function sumUsage(attempts: readonly AttemptReport[], now: number): Usage[] {
  const sums = new Map<string, { clusterId: string; instanceType: string; containers: number; ranMs: number }>();
  for (const attempt of attempts) {
    const { clusterId, instanceType } = attempt;
    if (clusterId === undefined || instanceType === undefined || attempt.submittedAt === undefined) continue;
    const key = JSON.stringify([clusterId, instanceType]);
    const sum = sums.get(key) ?? { clusterId, instanceType, containers: 0, ranMs: 0 };
    sum.containers += 1;
    sum.ranMs += ranFor(attempt, now);
    sums.set(key, sum);
  }
  const order = ([a]: readonly [string, unknown], [b]: readonly [string, unknown]) => (a < b ? -1 : 1);
  return [...sums]
    .sort(order)
    .map(([, sum]) => ({ ...sum, instanceHours: Number((sum.ranMs / 3_600_000).toFixed(6)) }));
}
