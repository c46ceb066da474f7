import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { probeProcess } from '../../../src/engines/process/process-probe.ts';
import { describeEngine } from '../describe-engine.ts';
import create from './create-step-engine.ts';
import { endJob, hasSlurm, reserveNodes, slurmRig, slurmSubject } from './slurm-rig.ts';

const probe = await probeProcess({});
const limits = probe.works ? probe : { memory: 'rlimit', cores: 'none' };

describe.skipIf(!hasSlurm && process.env.CI !== 'true')('in a job on a real cluster', () => {
  let jobId: string;
  beforeAll(async () => {
    const job = reserveNodes(2);
    jobId = job.id;
    process.env.SLUICE_TEST_JOB = JSON.stringify(job);
    process.env.SLUICE_TEST_STEPS = mkdtempSync(join(tmpdir(), 'sluice-steps-'));
  });
  afterAll(() => endJob(jobId));

  test('rejects what no node of the job has, and says what to do', async () => {
    const rig = slurmRig({}, create);
    await rig.open();
    const large = await rig.launch({ command: ['true'], limits: { cores: 5 } });
    const reason = expect.stringContaining(`no node of job ${jobId} has 5 cores`);
    expect(await large.end()).toEqual({ kind: 'rejected', reason });
    await rig.close();
  });

  const { startsTasks: _, ...subject } = slurmSubject({});
  describeEngine('on the nodes of a job of Slurm', create, {
    ...subject,
    // The nodes are this machine.
    memoryLimit: limits.memory === 'rlimit' ? 'process' : 'tree',
    coreLimit: limits.cores !== 'none',
    hidesInit: true,
    pipesLog: true,
    rejectsMissingCommand: true,
    module: fileURLToPath(new URL('./create-step-engine.ts', import.meta.url)),
    get environment() {
      const { SLUICE_TEST_JOB = '', SLUICE_TEST_STEPS = '' } = process.env;
      return { SLUICE_TEST_JOB, SLUICE_TEST_STEPS };
    },
  });
});
