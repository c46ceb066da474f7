import { execFileSync, spawn, spawnSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Launch } from '../../../src/engines/engine.ts';
import { slurmScript } from '../../../src/engines/slurm/slurm-script.ts';

const TOOLS = ['cat', 'cut', 'id', 'mkfifo', 'rm', 'setsid', 'sh', 'sleep', 'tail', 'tr'];
const SHELL = execFileSync('sh', ['-c', 'command -v sh'], { encoding: 'utf8' }).trim();

/** The script of a job, on a node of which the test decides what programs it has. */
describe('a job', () => {
  let directory: string;
  let programs: string;
  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'sluice-job-'));
    programs = join(directory, 'bin');
    mkdirSync(programs);
    for (const name of TOOLS) {
      const found = spawnSync('sh', ['-c', `command -v ${name}`], { encoding: 'utf8' }).stdout.trim();
      symlinkSync(found, join(programs, name));
    }
  });
  afterEach(() => rmSync(directory, { recursive: true }));

  function prepare(runtime: 'podman' | 'apptainer' | 'charliecloud') {
    const launch: Launch = {
      ...{ key: 'c1-abc', containerID: 'c1', clusterID: 'main', accountID: 'team', image: 'alpine' },
      ...{ command: ['true'], env: {}, ports: {}, mounts: [], options: {} },
      limits: { cores: 1, memoryBytes: 2 ** 30, gpus: 0 },
      directory,
      logPath: join(directory, 'log'),
    };
    const script = slurmScript(launch, { runtime, isRoot: false, maskedPaths: [] });
    return { script, env: { PATH: programs, SLURMD_NODENAME: 'n7', SLURM_JOB_ID: '1' } };
  }

  function run(runtime: 'podman' | 'apptainer' | 'charliecloud') {
    const { script, env } = prepare(runtime);
    const { status } = spawnSync(SHELL, [], { input: script, env, timeout: 30_000 });
    const read = (name: string) => {
      const path = join(directory, name);
      return existsSync(path) ? readFileSync(path, 'utf8') : undefined;
    };
    return { status, fault: read('fault'), rejection: read('rejected'), exit: read('exit.json')?.trim() };
  }

  it.each([
    ['podman', 'podman'],
    ['apptainer', 'apptainer'],
    ['charliecloud', 'ch-run'],
  ] as const)('with %s is a fault on a node without %s', (runtime, program) => {
    expect(run(runtime)).toEqual({ status: 127, fault: `node n7 has no ${program}`, rejection: undefined, exit: '' });
  });

  it.each([
    [
      'FATAL:   Unable to handle docker://alpine uri: failed to get checksum: dial tcp: lookup registry.x: no such host',
      true,
    ],
    ['FATAL:   Unable to handle docker://alpine uri: reading manifest: manifest unknown', false],
    ['an own message: connection refused', false],
  ])('with apptainer that ends with 255 and %j is a fault: %s', (message, isFault) => {
    writeFileSync(join(programs, 'apptainer'), `#!${SHELL}\necho '${message}' >&2\nexit 255\n`, { mode: 0o755 });
    const { fault, rejection, exit } = run('apptainer');
    expect(fault?.trim()).toBe(isFault ? message : undefined);
    expect(rejection).toBeUndefined();
    expect(exit).toBe('{"exitCode":255,"asked":false}');
  });

  it('with podman kills a container that outlives the script, also where a signal ended the call that waited for it', async () => {
    const calls = () => {
      const path = join(directory, 'calls');
      return existsSync(path) ? readFileSync(path, 'utf8').trim().split('\n') : [];
    };
    const count = (call: RegExp) => calls().filter((line) => call.test(line)).length;
    const podman = `#!/bin/sh
echo "$*" >>'${directory}/calls'
case $1 in
run) trap 'exit 0' TERM; while :; do sleep 0.05; done ;;
wait) exec sleep 600 ;;
esac`;
    writeFileSync(join(programs, 'podman'), podman, { mode: 0o755 });
    const sleep = readlinkSync(join(programs, 'sleep'));
    rmSync(join(programs, 'sleep'));
    writeFileSync(join(programs, 'sleep'), `#!/bin/sh\n[ "$1" = 5 ] || exec ${sleep} "$1"\n`, { mode: 0o755 });
    const { script, env } = prepare('podman');
    const job = spawn(SHELL, [], { env, detached: true, stdio: ['pipe', 'ignore', 'ignore'] });
    job.stdin.end(script);
    const signalAll = (signal: NodeJS.Signals) => process.kill(-job.pid!, signal);
    await expect.poll(() => count(/^run /)).toBe(1);
    signalAll('SIGTERM');
    await expect.poll(() => count(/^wait /)).toBe(1);
    signalAll('SIGTERM');
    await expect.poll(() => count(/^wait /)).toBe(2);
    expect(count(/^kill (?!--signal)/)).toBe(0);
    signalAll('SIGKILL');
    await expect.poll(() => count(/^rm /)).toBe(1);
    expect(count(/^kill (?!--signal)/)).toBe(1);
  });
});
