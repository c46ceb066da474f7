import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { runCommandLine } from '../../src/command-line/run-command-line.ts';
import { createTestContext } from '../recording-terminal.ts';

let cwd: string;

beforeEach(() => {
  cwd = mkdtempSync(join(tmpdir(), 'sluice-completion-'));
  mkdirSync(join(cwd, '.sluice/runs/abc123'), { recursive: true });
  mkdirSync(join(cwd, 'nightly'));
  writeFileSync(join(cwd, 'nightly/pipeline.yaml'), '');
  writeFileSync(join(cwd, 'notes.txt'), '');
});

afterEach(() => {
  vi.restoreAllMocks();
  rmSync(cwd, { recursive: true, force: true });
});

/** What the shell's script is told for these words. */
async function complete(...words: string[]): Promise<string[]> {
  return completeIn({}, ...words);
}

async function completeIn(env: NodeJS.ProcessEnv, ...words: string[]): Promise<string[]> {
  const lines: string[] = [];
  vi.spyOn(console, 'log').mockImplementation((line: string) => {
    lines.push(line);
  });
  await runCommandLine(['complete', '--', ...words], createTestContext({ cwd, env }));
  return lines.map((line) => line.split('\t')[0] ?? '').filter((line) => line !== '' && !line.startsWith(':'));
}

test('addCompletion offers commands and options', async () => {
  expect(await complete('res')).toEqual(['resume']);
  expect(await complete('run', '--pa')).toEqual(['--param', '--params-file', '--parallelism']);
});

test('addCompletion offers pipeline files and runs', async () => {
  expect(await complete('run', '')).toEqual(['nightly/pipeline.yaml']);
  expect(await completeIn({ SLUICE_HOME: join(cwd, '.sluice') }, 'show', '')).toEqual(['abc123']);
});

test('addCompletion offers the names of schemas', async () => {
  expect((await complete('schema', 'p')).sort()).toEqual([
    'pipeline',
    'plan',
    'plannedTime',
    'plannedTimePostponed',
    'plannedTimeSkipped',
    'plannedTimesMissed',
    'profile',
    'profileEntry',
    'profileSettings',
  ]);
});

test('addCompletion offers profiles, also to a repeated login', async () => {
  const profiles = join(cwd, '.config/sluice/profiles');
  mkdirSync(profiles, { recursive: true });
  for (const name of ['default', 'gpu']) writeFileSync(join(profiles, `${name}.yaml`), '');
  const env = { HOME: cwd };
  expect(await completeIn(env, 'run', '--profile', '')).toEqual(['default', 'gpu']);
  expect(await completeIn(env, 'plan', 'p.yaml', '--profile', 'g')).toEqual(['gpu']);
  expect(await completeIn(env, 'login', 'https://containers.example.org', '--profile', '')).toEqual(['default', 'gpu']);
  expect(await completeIn(env, 'admin', 'user', 'add', 'ada@example.org', '--name', '')).toEqual([]);
});

test('addCompletion offers the steps of the newest run, or of the selected one, and schedules', async () => {
  const home = join(cwd, '.sluice');
  const write = (runId: string, steps: readonly string[], at: number) => {
    const file = join(home, 'runs', runId, 'plan.json');
    mkdirSync(join(home, 'runs', runId), { recursive: true });
    const named = steps.map((name) => ({ name }));
    writeFileSync(file, JSON.stringify({ pipeline: { steps: named, finally: [{ name: 'tell' }] } }));
    utimesSync(file, at, at);
  };
  write('old123', ['fetch'], 1000);
  write('new123', ['fit', 'test'], 2000);
  mkdirSync(join(home, 'schedules/nightly'), { recursive: true });
  const env = { SLUICE_HOME: home };
  expect(await completeIn(env, 'why', '')).toEqual(['fit', 'test', 'tell']);
  expect(await completeIn(env, 'logs', '-r', 'old', '')).toEqual(['fetch', 'tell']);
  expect(await completeIn({}, 'approve', '--home', home, 't')).toEqual(['test', 'tell']);
  expect(await completeIn(env, 'rerun', '--from', 'f')).toEqual(['fit']);
  expect(await completeIn(env, 'logs', '-r', '')).toEqual(['abc123', 'new123', 'old123']);
  expect(await completeIn(env, 'schedule', 'pause', '')).toEqual(['nightly']);
});

test('the script for bash runs nothing that the name of a file or of a run asks for', async () => {
  writeFileSync(join(cwd, '$(touch pwned).yaml'), '');
  mkdirSync(join(cwd, '.sluice/runs/`touch pwned`'));
  const bin = join(cwd, 'bin');
  mkdirSync(bin);
  const command = join(PACKAGE, 'bin/sluice.js');
  writeFileSync(join(bin, 'sluice'), `#!/bin/sh\nexec "${process.execPath}" "${command}" "$@"\n`, { mode: 0o755 });
  const script = execFileSync(process.execPath, [command, 'completion', 'bash'], { encoding: 'utf8' });
  for (const word of ['run', 'show']) {
    const asked = `COMP_WORDS=(sluice ${word} ''); COMP_CWORD=2; __sluice_complete; echo "\${COMPREPLY[@]}"`;
    const env = { PATH: `${bin}:/usr/bin:/bin`, SLUICE_HOME: join(cwd, '.sluice') };
    const printed = execFileSync('bash', ['--norc', '-c', `${script}\n${asked}`], { cwd, env, encoding: 'utf8' });
    expect(printed).toBe(word === 'run' ? 'nightly/pipeline.yaml\n' : 'abc123\n');
  }
  expect(existsSync(join(cwd, 'pwned'))).toBe(false);
});

test('addCompletion offers no runs of a home that may not be used', async () => {
  expect(await complete('show', '')).toEqual([]);
});

test('the script for bash works without the package bash-completion', () => {
  const bin = join(cwd, 'bin');
  mkdirSync(bin);
  writeFileSync(join(bin, 'sluice'), '#!/bin/sh\nprintf "resume\\tgo on\\nreport\\twrite a page\\n:4\\n"\n', {
    mode: 0o755,
  });
  const script = execFileSync(process.execPath, ['bin/sluice.js', 'completion', 'bash'], {
    cwd: PACKAGE,
    encoding: 'utf8',
  });
  const asked = 'COMP_WORDS=(sluice res); COMP_CWORD=1; __sluice_complete; echo "${COMPREPLY[@]}"';
  const env = { PATH: `${bin}:/usr/bin:/bin` };
  const options = { env, encoding: 'utf8' } as const;
  expect(execFileSync('bash', ['--norc', '-c', `${script}\n${asked}`], options)).toBe('resume\n');
});

const PACKAGE = new URL('../..', import.meta.url).pathname;
