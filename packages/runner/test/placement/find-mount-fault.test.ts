import { expect, test } from 'vitest';
import { createHandPlan, createStep } from '../../../run/test/plans.ts';
import { findMountFault } from '../../src/placement/find-mount-fault.ts';

const inputs = (count: number) =>
  Object.fromEntries(
    Array.from({ length: count }, (_, n) => [`i${n}`, { from: { volume: 'v', path: `${n}` }, path: `/in/${n}` }]),
  );
const results = { r: { type: 'string', file: 'r' } } as const;

test('findMountFault allows 10,000 mounts, counts all kinds of them, and goes by the profile', () => {
  const fault = (count: number, mounts?: number) =>
    findMountFault(
      createHandPlan([createStep('few'), createStep('s', { inputs: inputs(count), results })]),
      mounts === undefined ? undefined : { mounts },
    )?.message;
  expect(fault(9_999)).toBeUndefined();
  expect(fault(10_000)).toBe(
    'step s has 10001 mounts, and its service takes 10000; mount the output of one step with cells, which is one mount',
  );
  expect(fault(63, 64)).toBeUndefined();
  expect(fault(64, 64)).toMatch(/^step s has 65 mounts, and its service takes 64;/);
});

test('findMountFault counts the characters of the mount points that a container may write to', () => {
  const outputs = (count: number) =>
    Object.fromEntries(Array.from({ length: count }, (_, n) => [`o${n}`, { path: `/out/${n}`, retain: false }]));
  const fault = (count: number) =>
    findMountFault(createHandPlan([createStep('s', { outputs: outputs(count) })]), undefined);
  expect(fault(5_000)).toBeUndefined();
  expect(fault(10_000)).toEqual({
    step: 's',
    message:
      'the mount points to which step s may write have 118927 characters as JSON, and its service takes 65536; write to directories in one output',
  });
});
