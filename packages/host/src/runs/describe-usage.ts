import type { RunFollower } from '@sluice/home';
import { type AttemptExplanation, measureAttempt } from '@sluice/run';
import type { z } from 'zod';
import type { cellDetails } from '../schemas/cell-replies.ts';
import { optional } from './to-time.ts';

type InstanceSizes = NonNullable<RunFollower['model']['facts']['header']>['instanceSizes'];
type Details = z.input<typeof cellDetails>;
type AttemptUsage = Pick<Details['attempts'][number], 'instance' | 'queuedMs' | 'ranMs' | 'coreHours' | 'gpuHours'>;

const HOUR_MS = 3_600_000;

/**
 * What an attempt has occupied. The protocol reports no measurements of a container: its cores and GPUs count for as long as
 * it ran, whether it used them or not. Nothing counts before the attempt has ended.
 */
export function describeAttemptUsage(sizes: InstanceSizes | undefined, attempt: AttemptExplanation): AttemptUsage {
  const { clusterId, instanceType } = attempt;
  const found = sizes?.find(({ clusterID, id }) => clusterID === clusterId && id === instanceType);
  const { queuedMs, ranMs } = measureAttempt(attempt);
  return {
    ...(found && {
      instance: {
        ...{ cpu: found.cpu, memoryGB: found.memoryGB },
        ...optional('gpu', found.gpu),
        ...optional('gpuModel', found.gpuModel),
      },
    }),
    ...optional('queuedMs', queuedMs),
    ...optional('ranMs', ranMs),
    ...(found && ranMs !== undefined && { coreHours: hours(found.cpu, ranMs), gpuHours: hours(found.gpu ?? 0, ranMs) }),
  };
}

/** The sum of the attempts that have run and ended. An hour count is absent if it is unknown for one of them. */
export function sumAttemptUsage(attempts: readonly AttemptUsage[]): Details['usage'] {
  const ran = attempts.filter(({ ranMs }) => ranMs !== undefined);
  const sum = (key: 'ranMs' | 'coreHours' | 'gpuHours') =>
    Number(ran.reduce((total, attempt) => total + (attempt[key] ?? 0), 0).toFixed(6));
  return {
    ...{ attempts: ran.length, ranMs: sum('ranMs') },
    ...(ran.every(({ coreHours }) => coreHours !== undefined) && {
      ...{ coreHours: sum('coreHours'), gpuHours: sum('gpuHours') },
    }),
  };
}

function hours(count: number, ms: number): number {
  return Number(((count * ms) / HOUR_MS).toFixed(6));
}
