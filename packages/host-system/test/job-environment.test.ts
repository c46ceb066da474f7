import { describe, expect, test } from 'vitest';
import { describeJob, readJobEnvironment } from '../src/job-environment.ts';

const job = {
  SLURM_JOB_ID: '6632',
  SLURM_JOB_NUM_NODES: '3',
  SLURM_JOB_NODELIST: 'n[1-2],big-7',
  SLURM_JOB_CPUS_PER_NODE: '4(x2),2',
  SLURM_CPUS_ON_NODE: '4',
  SLURM_RESTART_COUNT: '2',
};

describe('readJobEnvironment', () => {
  test('reads what Slurm has set', () => {
    expect(readJobEnvironment({ ...job, SLURM_MEM_PER_CPU: '1500' })).toEqual({
      jobId: '6632',
      restarts: 2,
      isOnNode: false,
      nodes: 3,
      nodeList: 'n[1-2],big-7',
      coresPerNode: [4, 4, 2],
      here: { cores: 4, memoryMB: 6000 },
      memoryMB: { perCore: 1500 },
    });
    expect(readJobEnvironment({ ...job, SLURM_MEM_PER_NODE: '8000' })?.here).toEqual({ cores: 4, memoryMB: 8000 });
    expect(readJobEnvironment({ ...job, SLURMD_NODENAME: 'n1' })?.isOnNode).toBe(true);
    expect(readJobEnvironment({})).toBeUndefined();
  });

  test.each([
    ['SLURM_JOB_ID', '0', undefined],
    ['SLURM_JOB_ID', '12; rm', undefined],
    ['SLURM_JOB_NODELIST', '$(id)', { nodeList: undefined }],
    ['SLURM_JOB_CPUS_PER_NODE', '4(x2)', { coresPerNode: [] }],
    ['SLURM_JOB_CPUS_PER_NODE', '4(x99999),1(x99999)', { coresPerNode: [] }],
    ['SLURM_CPUS_ON_NODE', '-1', { here: {} }],
    // All of the node.
    ['SLURM_MEM_PER_NODE', '0', { memoryMB: undefined }],
  ])('does not use %s=%s', (name, value, expected) => {
    const read = readJobEnvironment({ ...job, [name]: value });
    if (expected === undefined) expect(read).toBeUndefined();
    else expect(read).toMatchObject(expected);
  });

  test('counts cores for people', () => {
    expect(describeJob(readJobEnvironment(job)!)).toBe('Slurm job 6632: 3 nodes, 10 cores');
    expect(describeJob(readJobEnvironment({ SLURM_JOB_ID: '7' })!)).toBe('Slurm job 7: 1 node');
  });
});
