import { jobRequestSchema, ULIMITS } from '@sluice/client';
import { parsePipeline, type Step } from '@sluice/core';
import { describe, expect, test } from 'vitest';
import { createHandPlan } from '../../../run/test/plans.ts';
import { cells, make, run } from '../data/change-rig.ts';
import { createRig } from '../simulation/rig.ts';

/** The requests of all containers of a run on a service with these features. */
async function requests(features: readonly string[], step: Partial<Step> = { matrix: cells }) {
  const rig = createRig('jobs', { features });
  const report = await run(rig, createHandPlan([{ ...make, ...step }]));
  const labels = rig.created().map(({ wire }) => wire.labels?.['sluice-job']);
  labels.sort();
  return { runId: report.runId, jobs: labels.map((label) => label && JSON.parse(label)) };
}

describe('describeJob', () => {
  test('names pipeline, step and cell, and the run in a comment', async () => {
    const { runId, jobs } = await requests(['job-names']);
    expect(jobs).toEqual(
      ['n-1', 'n-2', 'n-3'].map((key) => ({
        name: `hand/make/${key}`,
        comment: `run=${runId} attempt=1 cell=make/${key}`,
      })),
    );
  });

  test.each([
    ['the shorter limit of a pull', { image: 'i', timeoutMs: 9000, queueTimeoutMs: 5000 }, 5000],
    ['its only limit', { image: 'i', timeoutMs: 9000 }, 9000],
    ['none without a limit', { image: 'i' }, undefined],
    ['none without an image', { timeoutMs: 9000 }, undefined],
  ])('has %s', async (_, step, pullTime) => {
    const { jobs } = await requests(['pull-times'], step);
    expect(jobs).toEqual([pullTime && { pullTime }]);
  });

  test("has the step's options of Docker, as the service reads them", async () => {
    const ulimits = { nofile: { soft: 1, hard: 2 }, memlock: { soft: -1, hard: -1 } };
    const step = { docker: { shmSizeBytes: 5, ulimits, user: '1000' } };
    const job = { docker: { shmSize: 5, ulimits, user: '1000' } };
    expect((await requests(['docker-options'], step)).jobs).toEqual([job]);
    expect(jobRequestSchema.safeParse(job).success).toBe(true);
    expect((await requests(['job-names'], step)).jobs).toEqual([expect.not.objectContaining(job)]);
  });

  test.each([
    ['the time of its resources', { resources: { timeMs: 1000 }, timeoutMs: 9000 }, { ms: 1000, required: true }],
    ['its timeout', { resources: { cpu: 1 }, timeoutMs: 9000 }, { ms: 9000, required: false }],
    ['ten years at most', { timeoutMs: 1e15 }, { ms: 3650 * 86_400_000, required: false }],
    ['nothing', {}, undefined],
  ])('requests %s', async (_, step, time) => {
    const { jobs } = await requests(['time-limits'], step);
    expect(jobs).toEqual([time && { time }]);
  });

  test('requests the time of the resources of a later attempt', async () => {
    const escalate = [{ timeMs: 5000 }, 'sim-2'];
    const rig = createRig('escalated', { features: ['time-limits'], behave: { make: { end: 'Failed' } } });
    const retry = { ...make.retry, limit: 2, escalate };
    await run(rig, createHandPlan([{ ...make, retry, resources: { timeMs: 1000 } }]));
    const labels = rig.created().map(({ wire }) => JSON.parse(wire.labels!['sluice-job']!).time.ms);
    expect(labels).toEqual([1000, 5000, 1000]);
  });

  test('says how long earlier runs took, only where the service announces that it uses it', async () => {
    const rig = createRig('expected', { features: ['expected-durations'] });
    const plan = createHandPlan([make]);
    const jobOf = (index: number) => rig.created().at(index)!.wire.labels?.['sluice-job'];
    await run(rig, plan);
    expect(jobOf(0)).toBeUndefined();
    await run(rig, plan);
    expect(JSON.parse(jobOf(1)!)).toEqual({ duration: expect.any(Number) });
  });

  test('a step on several nodes runs only where the service announces that it starts them', async () => {
    const step = { tasks: { nodes: 2, perNode: 3 } };
    expect((await requests(['multi-node'], step)).jobs).toEqual([step]);
    const rig = createRig('one node', { features: ['job-names'] });
    await expect(run(rig, createHandPlan([{ ...make, ...step }]))).rejects.toThrow(
      /step make: cluster \S+ does not start a step on several nodes/,
    );
    expect(rig.created()).toEqual([]);
  });

  test('a pipeline may have the nodes that a service accepts, and no others', () => {
    const counts = [0, 1, 1.5, 1000, 1001];
    const isValid = (nodes: number) =>
      parsePipeline({ text: `version: 1\nname: p\nsteps: { s: { command: [x], nodes: ${nodes} } }`, file: 'p' }).ok;
    const isAccepted = (nodes: number) => jobRequestSchema.safeParse({ tasks: { nodes, perNode: 1 } }).success;
    expect(counts.filter(isValid)).toEqual([1, 1000]);
    expect(counts.filter(isAccepted)).toEqual([1, 1000]);
  });

  test('requests the options of Slurm only where the service announces them', async () => {
    const slurm = { partition: 'gpu', exclusive: true };
    expect((await requests(['slurm-options'], { slurm })).jobs).toEqual([{ slurm }]);
    expect((await requests(['job-names'], { slurm })).jobs).toEqual([
      { name: 'hand/make', comment: expect.anything() },
    ]);
  });

  test.each([
    ['nodelist', ['n1', 'n[1-3]', '/etc/shadow', ' n1', '-n1', 'x'.repeat(500), 'x'.repeat(501), '', 'ü', '$(id)']],
    ['mail', ['ada', 'ada@example.org', '-A', '/etc/shadow', 'a@b@c', 'a b', '']],
  ])('requests no %s that a service rejects: a pipeline with it is not valid', (name, values) => {
    const isValid = (value: string) => {
      const slurm = JSON.stringify({ [name]: value });
      return parsePipeline({ text: `version: 1\nname: p\nsteps: { s: { command: [x], slurm: ${slurm} } }`, file: 'p' })
        .ok;
    };
    const isAccepted = (value: string) => jobRequestSchema.safeParse({ slurm: { [name]: value } }).success;
    expect(values.map(isValid)).toEqual(values.map(isAccepted));
    expect(values.filter(isValid).length).toBeGreaterThan(1);
  });

  test('a pipeline may name the limits of Docker that a service accepts, and no others', () => {
    const names = [...ULIMITS, 'rtprio', 'rss'];
    const isValid = (name: string) =>
      parsePipeline({
        text: `version: 1\nname: p\nsteps: { s: { image: i, docker: { ulimits: { ${name}: 1 } } } }`,
        file: 'p',
      }).ok;
    const isAccepted = (name: string) =>
      jobRequestSchema.safeParse({ docker: { ulimits: { [name]: { soft: 1, hard: 1 } } } }).success;
    expect(names.filter(isValid)).toEqual([...ULIMITS]);
    expect(names.filter(isAccepted)).toEqual([...ULIMITS]);
  });

  test('asks for nothing where the service announces nothing of it', async () => {
    const { jobs } = await requests(['read-only-mounts']);
    expect(jobs).toEqual([undefined, undefined, undefined]);
  });
});
