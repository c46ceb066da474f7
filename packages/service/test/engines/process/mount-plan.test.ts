import { expect, test } from 'vitest';
import { planMounts } from '../../../src/engines/process/mount-plan.ts';

const at = (target: string) => ({ root: '/volumes/v', subPath: '', kind: 'dir' as const, target });

test('planMounts puts outer mounts first and marks those that lie in others or in /tmp', () => {
  const plan = planMounts([at('/data/in'), at('/tmp/x'), at('/data'), at('/dataset/'), at('/a//b/../c')]);
  expect(plan.map(({ target, isLate }) => [target, isLate])).toEqual([
    ['/a/c', false],
    ['/data', false],
    ['/data/in', true],
    ['/dataset', false],
    ['/tmp/x', true],
  ]);
});

test.each([
  ['relative'],
  ['/'],
  ['/..'],
  ['/proc'],
  ['/proc/1'],
  ['/sys/fs'],
  ['/dev'],
  ['/dev/shm'],
  ['/x/../dev/null'],
])('planMounts rejects the mount point %s', (target) => {
  expect(() => planMounts([at(target)])).toThrow(expect.objectContaining({ code: 'REJECTED' }));
});

test('planMounts rejects two volumes at one place and more than fit', () => {
  expect(() => planMounts([at('/x'), at('/x/')])).toThrow("could not mount two volumes at '/x'");
  expect(() => planMounts(Array.from({ length: 10_001 }, (_, i) => at(`/m${i}`)))).toThrow('at most 10000');
});
