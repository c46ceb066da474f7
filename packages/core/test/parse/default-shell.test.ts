import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parsePipeline } from '../../src/index.ts';

const PROGRAMS = ['cat', 'head', 'yes', 'kill', 'sleep', 'printf'];
let place: string;

beforeAll(() => {
  place = mkdtempSync(join(tmpdir(), 'sluice-shell-'));
});
afterAll(() => rmSync(place, { recursive: true, force: true }));

function commandOf(step: object): readonly string[] {
  const text = JSON.stringify({ version: 1, name: 'a', steps: { s: step } });
  const parsed = parsePipeline({ file: 'p.json', text });
  return (parsed.ok && parsed.value.pipeline.steps[0]?.command) || [];
}

/** Runs a step's command where these programs stand for `sh` and `bash`. */
function run(step: object, shells: Readonly<Record<string, string>>) {
  const path = mkdtempSync(join(place, 'bin-'));
  for (const name of PROGRAMS) if (existsSync(`/usr/bin/${name}`)) symlinkSync(`/usr/bin/${name}`, join(path, name));
  for (const [name, program] of Object.entries(shells)) symlinkSync(program, join(path, name));
  const [program = '', ...args] = commandOf(step);
  const ended = spawnSync(join(path, program), args, { env: { PATH: path, X: 'x' }, encoding: 'utf8' });
  return { code: ended.status, out: ended.stdout, err: ended.stderr };
}

const KILLED = "(echo half; sh -c 'kill -9 $$') | cat\necho made";
const BUSYBOX = '/usr/bin/busybox';
const PLACES = [
  ['bash beside a plain sh', { sh: '/bin/dash', bash: '/bin/bash' }],
  ['bash alone', { sh: '/bin/bash' }],
  ['busybox', { sh: BUSYBOX }],
] as const;
const withPrograms = (shells: object) => it.skipIf(Object.values(shells).some((program) => !existsSync(program)));

describe('defaultShellScript', () => {
  for (const [name, shells] of PLACES) {
    withPrograms(shells)(`fails with a producer that was killed before a pipe: ${name}`, () => {
      expect(run({ script: KILLED }, shells)).toMatchObject({ code: 137, out: 'half\n' });
      expect(run({ command: "(echo half; sh -c 'kill -9 $$') | cat" }, shells)).toMatchObject({ code: 137 });
      expect(run({ script: 'echo one | cat\necho made' }, shells)).toEqual({ code: 0, out: 'one\nmade\n', err: '' });
    });

    withPrograms(shells)(`hands values over and ends as the script does: ${name}`, () => {
      expect(run({ script: 'echo "$X" | cat; exit 3' }, shells)).toEqual({ code: 3, out: 'x\n', err: '' });
      expect(run({ script: 'echo "$UNSET" | cat' }, shells).code).not.toBe(0);
      expect(run({ command: 'echo "$UNSET" | cat' }, shells).code).not.toBe(0);
    });
  }

  withPrograms({ sh: '/bin/dash' })('warns where no shell can notice it', () => {
    const shells = { sh: '/bin/dash' };
    expect(
      run({ script: 'set -- ; (set -o pipefail) 2>/dev/null && echo has || echo has not | cat' }, shells).out,
    ).toMatch(/has/);
    const ended = run({ script: KILLED }, shells);
    if (ended.code === 0) expect(ended.err).toContain('no bash and no pipefail here');
    else expect(ended.code).toBe(137);
  });

  withPrograms({ bash: '/bin/bash' })(
    'fails with 141 where a reader ends first, and takes what says that this is right',
    () => {
      const shells = { sh: '/bin/dash', bash: '/bin/bash' };
      expect(run({ script: 'yes | head -n 1' }, shells)).toMatchObject({ code: 141, out: 'y\n' });
      expect(run({ script: '(yes || test $? = 141) | head -n 1' }, shells)).toMatchObject({ code: 0, out: 'y\n' });
    },
  );

  it('leaves a text without a pipe, and a step that names its shell, as they are', () => {
    expect(commandOf({ script: 'a || b >| c' })).toEqual(['sh', '-eu', '-c', 'a || b >| c']);
    expect(commandOf({ command: 'a; b' })).toEqual(['sh', '-eu', '-c', 'a; b']);
    expect(commandOf({ command: 'a | b' })).toEqual(commandOf({ script: 'a | b' }));
    expect(commandOf({ command: 'a | b', shell: 'bash -e' })).toEqual(['bash', '-e', '-c', 'a | b']);
    expect(commandOf({ script: 'a | b', shell: 'sh -eu' })).toEqual(['sh', '-eu', '-c', 'a | b']);
    expect(commandOf({ script: 'a | b' }).slice(0, 2)).toEqual(['sh', '-c']);
  });
});
