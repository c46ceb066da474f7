import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Launch } from '../../../src/engines/engine.ts';
import { slurmHostRoot } from '../../../src/engines/slurm/slurm-host-root.ts';
import { slurmMeaning, slurmOutcome } from '../../../src/engines/slurm/slurm-outcome.ts';
import { parseQueue, SQUEUE_ARGUMENTS, squeueEnvironment } from '../../../src/engines/slurm/slurm-queue.ts';
import { openSlurmRecords } from '../../../src/engines/slurm/slurm-records.ts';
import {
  isPermanentRejection,
  parseJobId,
  sbatchArguments,
  slurmJobName,
} from '../../../src/engines/slurm/slurm-request.ts';
import { slurmScript } from '../../../src/engines/slurm/slurm-script.ts';

const launch: Launch = {
  key: 'c1-abc',
  containerID: 'c1',
  clusterID: 'main',
  accountID: 'team',
  command: ['echo', "it's; $(rm -rf /) `x`"],
  env: { A: 'b\nc' },
  ports: {},
  mounts: [{ root: '/data/v', subPath: 'a b', kind: 'dir', target: '/in/data' }],
  limits: { cores: 2, memoryBytes: 3 * 2 ** 30, gpus: 1 },
  directory: '/shared/c1',
  logPath: '/shared/c1/log',
  options: {},
};

describe('sbatchArguments', () => {
  it('asks for the instance type, its place and no second start', () => {
    expect(sbatchArguments(launch, { gres: 'gpu:1', partition: 'gpu', qos: 'high', minutes: 90 })).toEqual([
      '--parsable',
      '--job-name=sluice-c1-abc',
      '--comment=c1-abc',
      '--ntasks=1',
      '--nodes=1',
      '--cpus-per-task=2',
      '--mem=3072M',
      '--gres=gpu:1',
      '--partition=gpu',
      '--qos=high',
      '--time=90',
      '--no-requeue',
      '--export=ALL',
      '--chdir=/shared/c1',
      '--output=/shared/c1/slurm.out',
    ]);
  });
});

describe('options of a job', () => {
  it('are words of their own, never parts of another one', () => {
    const options = { constraint: '[a|b]*2', exclude: 'n[1-3] --wrap=id', exclusive: true, mail: 'a@b.c' };
    expect(sbatchArguments(launch, options)).toEqual(
      expect.arrayContaining([
        '--constraint=[a|b]*2',
        '--exclude=n[1-3] --wrap=id',
        '--exclusive',
        '--mail-user=a@b.c',
      ]),
    );
  });
});

describe('parseJobId', () => {
  it.each([
    ['123\n', '123'],
    ['123;cluster\n', '123'],
    ['a warning of a plugin\n77\n', '77'],
    ['', undefined],
    ['Submitted batch job 5', undefined],
    ['12a', undefined],
  ])('reads %j as %j', (stdout, jobId) => {
    expect(parseJobId(stdout)).toBe(jobId);
  });
});

describe('slurmJobName', () => {
  const nameOf = (name: string) => slurmJobName({ ...launch, job: { name } });

  it('is what the client calls the container, and the key of one without a name', () => {
    expect(nameOf('variants/call/S1,bcftools')).toBe('variants/call/S1,bcftools');
    expect(slurmJobName(launch)).toBe('sluice-c1-abc');
  });

  it('keeps the beginning and the end of a long name', () => {
    const name = nameOf(`variants/${'x'.repeat(2000)}/S1`);
    expect(name).toMatch(/^variants\/x+~x+\/S1$/);
    expect(name).toHaveLength(120);
  });

  it('has no character that a program of Slurm changes', () => {
    expect(nameOf('a\n7|COMPLETED/ü%x;"$(id)\'')).toBe('a_7_COMPLETED/__x____id__');
  });
});

describe('parseQueue', () => {
  const mark = 'a-mark';
  const parse = (...lines: string[]) => parseQueue(`${lines.join('\n')}\n`, mark);

  it('reads jobs with separators in any text, and leaves out what is never ours', () => {
    const jobs = parse(
      `${mark}|7|PENDING||0|(Resources|x)${mark};a|b${mark};/d/a`,
      `${mark}|9|COMPLETED|n2|1001|None${mark};b${mark};/d/b c`,
      `${mark}|10_1|RUNNING|n2|1001|None${mark};c${mark};/d/c`,
      `${mark}|11|RUNNING|n2||None${mark};d${mark};/d/d`,
    );
    expect(jobs).toEqual([
      { key: 'a', jobId: '7', name: 'a|b', state: 'PENDING', node: '', uid: 0, reason: '(Resources|x)' },
      { key: 'b c', jobId: '9', name: 'b', state: 'COMPLETED', node: 'n2', uid: 1001, reason: 'None' },
    ]);
  });

  it('takes no line of a name for a job', () => {
    const jobs = parse(
      'slurm_load_jobs error: whatever',
      `${mark}|6|PENDING||1003|None${mark};x`,
      '7|COMPLETED|n1|0|None;x;/d/a',
      'a-guess|7|COMPLETED|n1|0|Nonea-guess;x;/d/a',
      `${mark};/other`,
      `${mark}|7|RUNNING|n1|0|None${mark};x${mark};/d/a`,
      `${mark}|8|RUNNING|n1|1003|None${mark};x${mark};/d/a\n`,
    );
    expect(jobs.map(({ jobId, key, state }) => [jobId, key, state])).toEqual([
      ['6', 'other', 'PENDING'],
      ['7', 'a', 'RUNNING'],
      ['8', 'a\n', 'RUNNING'],
    ]);
  });

  it('believes neither of two entries with one job ID', () => {
    const jobs = parse(`${mark}|7|RUNNING|n1|0|None`, `${mark}|7|COMPLETED|n1|0|None`);
    expect(jobs.map(({ state }) => slurmMeaning(state))).toEqual(['unknown', 'unknown']);
  });

  it('asks for a mark that no argument shows', () => {
    expect(squeueEnvironment(mark).SQUEUE_FORMAT).toMatch(/^a-mark\|%i/);
    expect(SQUEUE_ARGUMENTS.join()).not.toMatch(/%|mark/);
  });
});

describe('openSlurmRecords', () => {
  it('takes nothing for a job number that could be an option of scancel', async () => {
    const directory = mkdtempSync(join(tmpdir(), 'sluice-records-'));
    try {
      const records = openSlurmRecords(directory);
      writeFileSync(join(directory, 'start.json'), '{"node":"n1","jobId":"7"}\n');
      writeFileSync(join(directory, 'slurm-job'), '7');
      expect(await records.readStart()).toMatchObject({ jobId: '7' });
      expect(await records.readJobId()).toBe('7');
      writeFileSync(join(directory, 'start.json'), '{"node":"n1","jobId":"--user=root"}\n');
      writeFileSync(join(directory, 'slurm-job'), '--user=root');
      expect(await records.readStart()).toBeUndefined();
      expect(await records.readJobId()).toBeUndefined();
    } finally {
      rmSync(directory, { recursive: true });
    }
  });
});

describe('slurmMeaning', () => {
  it('knows the states that matter and calls a new one unknown', () => {
    expect(slurmMeaning('PENDING')).toBe('pending');
    expect(slurmMeaning('SUSPENDED')).toBe('running');
    expect(slurmMeaning('COMPLETING')).toBe('exiting');
    expect(slurmMeaning('NODE_FAIL')).toBe('ended');
    expect(slurmMeaning('QUANTUM_FLUX')).toBe('unknown');
  });
});

describe('slurmOutcome', () => {
  const own = (exitCode: number) => ({ exitCode, asked: false });

  it.each([
    [
      { state: 'COMPLETED', exit: own(0), stopped: false },
      { kind: 'exited', exitCode: 0 },
    ],
    [
      { state: 'FAILED', exit: own(3), stopped: false },
      { kind: 'exited', exitCode: 3 },
    ],
    [{ state: 'CANCELLED', exit: { exitCode: 143, asked: true }, stopped: true }, { kind: 'stopped' }],
    [
      { state: undefined, exit: own(5), stopped: false },
      { kind: 'exited', exitCode: 5 },
    ],
    [
      { state: 'OUT_OF_MEMORY', exit: undefined, stopped: false },
      { kind: 'exited', exitCode: 137, outOfMemory: true },
    ],
    // The command had ended by itself before its node failed: its own record is the evidence.
    [
      { state: 'NODE_FAIL', exit: own(0), stopped: false },
      { kind: 'exited', exitCode: 0 },
    ],
    // A controller that has forgotten the start of a job calls it cancelled, whatever became of it.
    [
      { state: 'CANCELLED', exit: own(4), stopped: false },
      { kind: 'exited', exitCode: 4 },
    ],
  ])('reads %j as %j', (evidence, end) => {
    expect(slurmOutcome(evidence)).toEqual(end);
  });

  const rejection = 'the volume holds no such directory';

  it.each([
    [
      { exit: own(125), stopped: false },
      { kind: 'rejected', reason: rejection },
    ],
    [
      { exit: undefined, stopped: false },
      { kind: 'rejected', reason: rejection },
    ],
    // A signal that ended `mount`.
    [{ exit: { exitCode: 125, asked: true }, stopped: true }, { kind: 'stopped' }],
    [
      { exit: { exitCode: 125, asked: true }, stopped: false },
      { kind: 'exited', exitCode: 125 },
    ],
  ])('reads a rejection with %j as %j', (evidence, end) => {
    expect(slurmOutcome({ state: 'FAILED', rejection, ...evidence })).toEqual(end);
  });

  it('reads what the node could not set up as a fault, unless a signal ended the setup', () => {
    const fault = 'the node does not allow mounts in user namespaces';
    expect(slurmOutcome({ state: 'FAILED', exit: own(125), stopped: false, fault })).toEqual({
      kind: 'fault',
      reason: fault,
    });
    expect(slurmOutcome({ state: 'CANCELLED', exit: { exitCode: 125, asked: true }, stopped: true, fault })).toEqual({
      kind: 'stopped',
    });
  });

  it.each(['NODE_FAIL', 'PREEMPTED', 'BOOT_FAIL', 'CANCELLED', 'FAILED', 'QUANTUM_FLUX'])(
    'makes %s without a record a fault that names it',
    (state) => {
      const end = slurmOutcome({ state, exit: undefined, stopped: false });
      expect(end).toMatchObject({ kind: 'fault', reason: expect.stringContaining(state) });
    },
  );

  it('does not call a state in which the job was last seen alive its end', () => {
    expect(slurmOutcome({ state: 'RUNNING', exit: undefined, stopped: false })).toEqual({
      kind: 'fault',
      reason: 'the job left the queue of Slurm without an exit record, last seen as RUNNING',
    });
  });

  it.each([
    // A command that takes SIGTERM by leaving with 0 has not done its work.
    ['PREEMPTED', 0, true],
    // The signal reached the command before it reached the script.
    ['PREEMPTED', 0, false],
    ['CANCELLED', 0, false],
    ['CANCELLED', 143, true],
    ['NODE_FAIL', 143, false],
    ['NODE_FAIL', 1, true],
  ])('takes the record of %s with exit code %i, asked %s, for no evidence', (state, exitCode, asked) => {
    expect(slurmOutcome({ state, exit: { exitCode, asked }, stopped: false })).toMatchObject({ kind: 'fault' });
  });
});

describe('slurmOutcome at a time limit', () => {
  it.each([
    ['TIMEOUT', undefined, 143],
    ['DEADLINE', undefined, 143],
    // A command that takes SIGTERM by leaving with 0 has not done its work.
    ['TIMEOUT', { exitCode: 0, asked: true }, 0],
    ['TIMEOUT', { exitCode: 0, asked: false }, 0],
    ['TIMEOUT', { exitCode: 143, asked: true }, 143],
    ['DEADLINE', { exitCode: 143, asked: false }, 143],
  ])('says so for %s with the record %j', (state, exit, exitCode) => {
    const end = { kind: 'exited', exitCode, timedOut: true };
    expect(slurmOutcome({ state, exit, stopped: false })).toEqual(end);
  });

  it('still believes the failure of a command that ended by itself', () => {
    const end = slurmOutcome({ state: 'TIMEOUT', exit: { exitCode: 3, asked: false }, stopped: false });
    expect(end).toEqual({ kind: 'exited', exitCode: 3 });
  });
});

describe('isPermanentRejection', () => {
  it.each([
    ['sbatch: error: invalid partition specified: nope', true],
    ['sbatch: error: Batch job submission failed: Requested node configuration is not available', true],
    ['sbatch: error: Unable to contact slurm controller (connect failure)', false],
    ['sbatch: error: Batch job submission failed: Socket timed out on send/recv operation', false],
  ])('judges %j', (stderr, permanent) => {
    expect(isPermanentRejection(stderr)).toBe(permanent);
  });
});

describe('slurmHostRoot', () => {
  it('hands values of the environment on where no other user sees them', () => {
    const env = { TOKEN: "it's secret", 'odd.name': 'b', IFS: 'c' };
    const script = slurmHostRoot({ ...launch, env }, { maskedPaths: [], isRoot: false });
    expect(script).toContain(`export TOKEN='it'\\''s secret'\n`);
    const programs = script.split('\n').filter((line) => !line.startsWith('export '));
    expect(programs.join('\n')).not.toContain('secret');
    expect(programs.find((line) => line.startsWith('exec setpriv'))).toMatch(/'odd.name=b' 'IFS=c'/);
  });
});

describe('slurmScript', () => {
  const forUser = { isRoot: false, maskedPaths: [] };

  it('quotes every value, whatever it holds', () => {
    const script = slurmScript({ ...launch, image: 'img' }, { ...forUser, runtime: 'podman' });
    expect(script).toContain(`'echo' 'it'\\''s; $(rm -rf /) \`x\`'`);
    expect(script).toContain(`'--volume=/data/v/a b:/in/data'`);
    expect(script).toContain(`export A='b\nc'\n`);
  });

  it('claims the directory before it does anything else', () => {
    const lines = slurmScript(launch, { ...forUser, runtime: 'none' }).split('\n');
    expect(lines.slice(0, 5)).toEqual([
      '#!/bin/sh',
      'main() {',
      "d='/shared/c1'",
      'set -C',
      '{ true >"$d/claim"; } 2>/dev/null || exit 0',
    ]);
  });

  it('runs a container without an image on the node, whatever runs images', () => {
    const [none, ...others] = (['none', 'podman', 'apptainer', 'charliecloud'] as const).map((runtime) =>
      slurmScript(launch, { ...forUser, runtime }),
    );
    expect(none).toContain('unshare');
    expect(new Set(others)).toEqual(new Set([none]));
  });

  it.each(['none', 'podman', 'apptainer', 'charliecloud'] as const)(
    'does nothing with %s if it is cut anywhere, as by the end of the service that passes it',
    (runtime) => {
      const directory = mkdtempSync(join(tmpdir(), 'sluice-cut-'));
      try {
        const script = slurmScript({ ...launch, image: '/img', directory }, { ...forUser, runtime });
        const ends = [0.1, 0.2, 0.5, 0.8, 0.9].map((part) => Math.round(script.length * part));
        const lines = [...script.matchAll(/\n/g)].map(({ index }) => index);
        for (const end of [...ends, ...lines.slice(0, -1).filter((_, i) => i % 8 === 0), ...lines.slice(-4, -1)]) {
          const { signal } = spawnSync('sh', { input: script.slice(0, end), timeout: 10_000 });
          expect([end, signal, readdirSync(directory)]).toEqual([end, null, []]);
        }
      } finally {
        rmSync(directory, { recursive: true });
      }
    },
  );

  it.each(['none', 'podman'] as const)('contains no line break of DOS with %s, which sbatch rejects', (runtime) => {
    const image = runtime === 'none' ? {} : { image: 'img' };
    const script = slurmScript({ ...launch, ...image, env: { KEY: "'a'\r\nb" } }, { ...forUser, runtime });
    expect(script).not.toContain('\r\n');
    const exported = /export KEY=('.*?\n.*)\n/.exec(script)?.[1];
    const { stdout } = spawnSync('sh', ['-c', `cr=$(printf '\\r'); printf %s ${exported}`], { encoding: 'utf8' });
    expect(stdout).toBe("'a'\r\nb");
  });
});
