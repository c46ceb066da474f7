import { expect, test } from 'vitest';
import { describeAttemptUsage, sumAttemptUsage } from '../../src/runs/describe-usage.ts';

const SIZES = [
  { clusterID: 'a', id: 'small', cpu: 2, memoryGB: 4 },
  { clusterID: 'b', id: 'small', cpu: 8, memoryGB: 64, gpu: 2, gpuModel: 'A100' },
];
const HOUR = 3_600_000;
type Attempt = Parameters<typeof describeAttemptUsage>[1];
const PENDING: Attempt = {
  ...{ attempt: 1, status: 'pending', clusterId: 'a', instanceType: 'small' },
  submittedAt: 1_000,
};
const RUNNING: Attempt = { ...PENDING, status: 'running', runningAt: 3_000 };
const ENDED: Attempt = { ...RUNNING, status: 'succeeded', endedAt: 3_000 + HOUR / 2 };

test('describeAttemptUsage multiplies what the instance type has by the time that an attempt ran', () => {
  expect(describeAttemptUsage(SIZES, ENDED)).toEqual({
    ...{ instance: { cpu: 2, memoryGB: 4 }, queuedMs: 2_000, ranMs: HOUR / 2 },
    ...{ coreHours: 1, gpuHours: 0 },
  });
  expect(describeAttemptUsage(SIZES, { ...ENDED, clusterId: 'b' })).toMatchObject({
    ...{ instance: { cpu: 8, memoryGB: 64, gpu: 2, gpuModel: 'A100' }, coreHours: 4, gpuHours: 1 },
  });
});

test('describeAttemptUsage says nothing that is not known', () => {
  expect(describeAttemptUsage(undefined, ENDED)).toEqual({ queuedMs: 2_000, ranMs: HOUR / 2 });
  expect(describeAttemptUsage(SIZES, { ...ENDED, instanceType: 'other' })).not.toHaveProperty('coreHours');
  expect(describeAttemptUsage(SIZES, RUNNING)).toEqual({ instance: { cpu: 2, memoryGB: 4 }, queuedMs: 2_000 });
  expect(describeAttemptUsage(SIZES, PENDING)).toEqual({ instance: { cpu: 2, memoryGB: 4 } });
});

test('sumAttemptUsage adds up what ran, and no hours if some are unknown', () => {
  const known = describeAttemptUsage(SIZES, { ...ENDED, clusterId: 'b' });
  const never = describeAttemptUsage(SIZES, { attempt: 2, status: 'canceled' });
  const sum = { attempts: 2, ranMs: HOUR };
  expect(sumAttemptUsage([known, never, known])).toEqual({ ...sum, coreHours: 8, gpuHours: 2 });
  expect(sumAttemptUsage([known, describeAttemptUsage(undefined, ENDED)])).toEqual(sum);
  expect(sumAttemptUsage([])).toEqual({ attempts: 0, ranMs: 0, coreHours: 0, gpuHours: 0 });
});
