import { jobRequestSchema } from '@sluice/client';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { placementOf } from '../../../src/engines/slurm/placement-of.ts';
import { slurmConfigSchema } from '../../../src/engines/slurm/slurm-config.ts';
import { createSlurmEngine } from '../../../src/engines/slurm/slurm-engine.ts';
import type { EngineRig } from '../engine-rig.ts';
import { hasSlurm, slurm, slurmRig } from './slurm-rig.ts';

describe('placementOf', () => {
  const config = slurmConfigSchema.parse({ partition: 'main', qos: 'low', allow: ['partition'] });

  it('replaces the options of the cluster by those of the instance type, and these by those of the step', () => {
    const options = { partition: 'gpu', account: 'lab' };
    const found = { qos: 'low', account: 'lab' };
    expect(placementOf(config, { options, gpus: 0 })).toMatchObject({ ...found, partition: 'gpu' });
    const job = { slurm: { partition: 'big' } };
    expect(placementOf(config, { options, gpus: 0, job })).toMatchObject({ ...found, partition: 'big' });
  });

  it('rejects what the list does not contain, and says who can allow it', () => {
    const job = { slurm: { partition: 'big', qos: 'high', exclusive: false } };
    expect(() => placementOf(config, { options: {}, gpus: 0, job })).toThrow(
      "could not use 'slurm.qos', 'slurm.exclusive' of the step: the cluster allows only partition; the administrator of the service can add it to 'allow' in the options of the cluster or of the instance type",
    );
    expect(() => placementOf(slurmConfigSchema.parse({}), { options: {}, gpus: 0, job })).toThrow(
      'none of these options',
    );
    expect(() => placementOf(config, { options: { allow: ['qos', 'exclusive'] }, gpus: 0, job })).toThrow(
      "'slurm.partition'",
    );
  });
});

describe('jobRequestSchema', () => {
  it.each([
    { qos: '' },
    { qos: 'a\nb' },
    { qos: '$(id)' },
    { qos: ' high' },
    { qos: '-high' },
    { nodelist: '/etc/shadow' },
    { exclude: './nodes' },
    { mail: '-A/etc/shadow' },
    { mail: 'a@b.c,d@e.f' },
    { qos: 'x'.repeat(501) },
    { exclusive: 'user' },
    { wrap: 'id' },
    { qos: 7 },
  ])('rejects %j', (options) => {
    expect(jobRequestSchema.safeParse({ slurm: options }).success).toBe(false);
  });
});

describe.skipIf(!hasSlurm && process.env.CI !== 'true')('options of a step on a real cluster', () => {
  let rig: EngineRig;

  beforeAll(async () => {
    const allow = ['partition', 'nodelist', 'exclusive', 'gres', 'mail'];
    const config = slurmConfigSchema.parse({ pollInterval: '200ms', partition: 'urgent', allow });
    rig = slurmRig({}, () => createSlurmEngine(config, { storage: rig.directory }));
    await rig.open();
  });
  afterAll(() => rig.close());

  it('reach the job', async () => {
    const options = { partition: 'main', nodelist: 'n1', exclusive: true, gres: 'gpu:1', mail: 'ada@example.org' };
    const container = await rig.launch({ command: ['sleep', '600'], limits: { gpus: 1 }, job: { slurm: options } });
    const { runID, nodeID } = await container.seen('running');
    expect(nodeID).toBe('n1');
    const shown = slurm('scontrol', '--oneliner', 'show', 'job', runID);
    for (const part of [' Partition=main ', ' OverSubscribe=NO ', 'gres:gpu:1', 'MailUser=ada@example.org'])
      expect(shown).toContain(part);
    await rig.engine.stop(container.launch.key, { graceMs: 0 });
    expect(await container.end()).toEqual({ kind: 'stopped' });
  });

  it.each([
    ['nodelist', 'nosuchnode'],
    ['partition', 'nosuchpartition'],
    ['gres', 'nosuch:1'],
  ])('that Slurm does not know end the container: %s', async (name, value) => {
    const container = await rig.prepare({ command: ['true'], job: { slurm: { [name]: value } } });
    expect(await rig.rejection(container)).toMatchObject({ kind: 'rejected' });
  });

  it('that are not allowed start nothing', async () => {
    const container = await rig.prepare({ command: ['true'], job: { slurm: { qos: 'high' } } });
    expect(await rig.rejection(container)).toMatchObject({
      kind: 'rejected',
      reason: expect.stringContaining("'slurm.qos'"),
    });
  });
});
