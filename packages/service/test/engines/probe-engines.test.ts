import { expect, test } from 'vitest';
import { describeProcesses } from '../../src/engines/probe-engines.ts';

const PROBE = { works: true, launcher: 'native', mountsBy: 'namespaces', cores: 'affinity' } as const;

test('describeProcesses says whether memory is limited for each process or for a container', () => {
  expect(describeProcesses({ ...PROBE, memory: 'rlimit' }).found).toBe(
    'native launcher, memory limited by rlimit (each process separately), cores by affinity',
  );
  expect(describeProcesses({ ...PROBE, memory: 'cgroup2', cores: 'cgroup2' }).found).toBe(
    'native launcher, memory limited by cgroup2, cores by cgroup2',
  );
});
