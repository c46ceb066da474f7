import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { runCommandLine } from '../../src/command-line/run-command-line.ts';
import { createTestContext } from '../recording-terminal.ts';

let cwd: string;

beforeEach(() => {
  cwd = mkdtempSync(join(tmpdir(), 'sluice-plan-'));
});
afterEach(() => rmSync(cwd, { recursive: true, force: true }));

async function sluice(text: string, ...args: readonly string[]) {
  writeFileSync(join(cwd, 'p.yaml'), `version: 1\nname: p\n${text}`);
  const context = createTestContext({ cwd, env: { SLUICE_HOME: join(cwd, 'home') } });
  const [verb = '', ...flags] = args;
  const exitCode = await runCommandLine([verb, 'p.yaml', ...flags], context);
  return { exitCode, ...context.terminal.written() };
}

const json = (out: string) =>
  out
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Record<string, unknown>);

const MISSING = 'volumes:\n  raw:\n    source: ~/gone\nsteps: { s: { command: [x], inputs: { i: volumes.raw } } }\n';

describe('a missing source', () => {
  test('is shown at its line by plan and run, with a hint on `~`', async () => {
    for (const verb of ['plan', 'run']) {
      const { exitCode, err } = await sluice(MISSING, verb);
      expect(exitCode).toBe(2);
      expect(err).toContain('p.yaml:5:13: error: could not read the source of volume raw: ');
      expect(err).toContain('5 |     source: ~/gone');
      expect(err).toContain('`~` is not expanded: write the path in full');
      expect(err).toContain('1 error in p.yaml');
    }
  });

  test('of a used pipeline is shown in the file that names it', async () => {
    const used =
      'version: 1\nname: u\nvolumes:\n  v: { source: ./gone }\nsteps: { s: { command: [x], inputs: { i: volumes.v } } }\n';
    writeFileSync(join(cwd, 'u.yaml'), used);
    const { exitCode, err } = await sluice('steps: { a: { uses: ./u.yaml } }\n', 'plan');
    expect(exitCode).toBe(2);
    expect(err).toContain('u.yaml:4:16: error: could not read the source of volume a-v: ');
  });
});

describe('plan --json', () => {
  test.each([
    ['a placement', 'steps: { s: { command: [x], instanceType: nope } }\n', 'offers nope'],
    ['a source', MISSING, '1 error in p.yaml'],
    ['a secret', 'secrets: [key]\nsteps: { s: { command: [x], secrets: [key] } }\n', 'needs the secret key'],
    [
      'a volume',
      'volumes: { v: { id: nope } }\nsteps: { s: { command: [x], inputs: { i: volumes.v } } }\n',
      'the service has no volume nope',
    ],
    [
      'a level of escalation',
      'steps: { s: { command: [x], retry: { limit: 1, escalate: [nope] } } }\n',
      '`retry.escalate` of step s: no instance type of cluster local offers nope; it has local-1',
    ],
  ])('rejects what plan rejects: %s', async (_what, text, reason) => {
    const plain = await sluice(text, 'plan');
    const asJson = await sluice(text, 'plan', '--json');
    expect(plain).toMatchObject({ exitCode: 2, err: expect.stringContaining(reason) });
    expect(asJson.exitCode).toBe(2);
    const lines = json(asJson.out);
    expect(lines[0]).toHaveProperty('steps');
    expect(lines.at(-1)).toMatchObject({ type: 'error', code: 'REJECTED', message: expect.stringContaining(reason) });
  });

  test('counts the cells of a list in the file, as the table does', async () => {
    const text =
      'params: { n: [1, 2] }\nsteps:\n  a: { command: [x], foreach: [1, "two", { three: 3 }] }\n  b: { command: [x], foreach: "${{ params.n }}" }\n  c: { command: [x], matrix: { k: [1, 2] } }\n  d: { command: [x] }\n';
    const [value] = json((await sluice(text, 'plan', '--json')).out);
    const steps = (value?.steps ?? []) as { cellCount?: number }[];
    const counts = steps.map(({ cellCount }) => cellCount);
    expect(counts).toEqual([3, undefined, 2, 1]);
    expect((await sluice(text, 'plan')).out).toContain('6 or more containers');
  });

  test('says how many lists are known of a step over a listed axis, not how many cells', async () => {
    const text = `params: { samples: [S1, S2, S3] }
axes:
  sample: "\${{ params.samples }}"
  part: "\${{ steps.split.results.parts }}"
  day: "\${{ steps.days.results.days }}"
  caller: [x, y]
steps:
  split: { each: sample, command: [x], results: { parts: array } }
  days: { command: [x], results: { days: array } }
  work: { each: [part, caller], needs: [split], command: [x] }
  daily: { each: day, command: [x] }
`;
    const [value] = json((await sluice(text, 'plan', '--json')).out);
    const steps = (value?.steps ?? []) as { cellCount?: number; cells?: unknown; lists?: unknown }[];
    expect(steps.map(({ cellCount }) => cellCount)).toEqual([3, 1, undefined, undefined]);
    expect(steps.map(({ lists }) => lists)).toEqual([
      undefined,
      undefined,
      { axis: 'part', step: 'split', count: 3 },
      { axis: 'day', step: 'days', count: 1 },
    ]);
    expect(steps[2]).not.toHaveProperty('cells');
    const { out } = await sluice(text, 'plan');
    expect(out).toMatch(/ work +3 lists .*\n.* daily +1 list /);
    expect(out).toContain(
      'axis part: 3 lists, one per sample; cells are known when split has ended\n' +
        'axis day: 1 list; cells are known when days has ended\n',
    );
    expect(out).toContain('4 steps, 4 or more containers');
  });

  test('counts mounts by the profile', async () => {
    writeFileSync(join(cwd, 'profile.yaml'), 'limits: { mounts: 1 }\n');
    const text = 'steps: { s: { command: [x], outputs: { a: /a, b: /b } } }\n';
    for (const args of [['plan'], ['plan', '--json'], ['check']]) {
      const { exitCode, out, err } = await sluice(text, ...args, '--profile', 'profile.yaml');
      expect(exitCode).toBe(2);
      expect(`${out}${err}`).toContain('step s has 2 mounts, and its service takes 1');
    }
  });
});

test('check shows a fan-in of more than 10,000 inputs at the line of its step', async () => {
  const inputs = Array.from({ length: 10_001 }, (_, n) => `i${n}: "volumes.v/${n}"`).join(', ');
  const text = `volumes: { v: {} }\nsteps:\n  all: { command: [x], inputs: { ${inputs} } }\n`;
  const { exitCode, err } = await sluice(text, 'check');
  expect(exitCode).toBe(2);
  expect(err).toContain('p.yaml:5:3: error: step all has 10001 mounts, and its service takes 10000');
});

test('check --json names the parameters that a run needs values for', async () => {
  const text =
    'params: { seed: { type: integer }, size: 1 }\nsteps: { s: { command: [x, "${{ params.seed }}", "${{ params.size }}"] } }\n';
  const { exitCode, out } = await sluice(text, 'check', '--json');
  expect(exitCode).toBe(0);
  expect(json(out)).toEqual([
    {
      schema: 1,
      type: 'diagnostic',
      code: 'missing-param',
      severity: 'warning',
      message: 'parameter `seed` has no value and no default',
      hint: 'give it one for this run: -p seed=VALUE',
    },
    { schema: 1, type: 'check', file: 'p.yaml', pipeline: 'p', steps: 1, missingParams: ['seed'] },
  ]);
});

test('plan says which shell runs a text with a pipe', async () => {
  const text = 'steps: { a: { script: "echo | cat" }, b: { command: "echo | cat" }, c: { script: echo } }\n';
  const { exitCode, out } = await sluice(text, 'plan');
  expect(exitCode).toBe(0);
  expect(out).toContain('\nshell: bash with pipefail, or an sh that supports it, for scripts with a pipe: a, b\n');
  const plain = await sluice('steps: { c: { script: echo } }\n', 'plan');
  expect(plain.out).not.toContain('shell:');
});

const PUBLISHING = `steps:
  s: { command: [sh, -c, 'echo 1 > /a/n; echo 2 > /b/n'], outputs: { a: /a, b: /b } }
outputs:
  one: { from: s.a, publish: ./one }
  two: { from: s.b, publish: ./two }
`;

const SOURCE = 'volumes: { v: { source: ./data } }\nsteps: { s: { command: [x], inputs: { i: volumes.v } } }\n';

/** Makes a directory, to which the directory of the output `two` is a link. */
function linkTwo(target: string): void {
  mkdirSync(join(cwd, target), { recursive: true });
  symlinkSync(target, join(cwd, 'two'));
}

describe('plan and run', () => {
  test.each([
    [
      'files that Sluice did not write in a directory of `publish`',
      () => {
        mkdirSync(join(cwd, 'two'));
        writeFileSync(join(cwd, 'two', 'mine'), '');
      },
      PUBLISHING,
      'two for output two: it contains files that Sluice did not write: "mine"',
    ],
    [
      'two outputs published to one directory through a link',
      () => linkTwo('one'),
      PUBLISHING,
      'two for output two: output one is published to the same directory, after links are followed',
    ],
    [
      'an output published below another one through a link',
      () => linkTwo('one/inner'),
      PUBLISHING,
      'one, after links are followed',
    ],
    [
      'a source that is a named pipe',
      () => execFileSync('mkfifo', [join(cwd, 'pipe')]),
      'volumes: { v: { source: ./pipe } }\nsteps: { s: { command: [x], inputs: { i: volumes.v } } }\n',
      'could not read the source of volume v: it is a named pipe',
    ],
    [
      'a source with a link that leads out',
      () => {
        mkdirSync(join(cwd, 'src'));
        symlinkSync('/etc/hostname', join(cwd, 'src', 'out'));
      },
      'volumes: { v: { source: ./src } }\nsteps: { s: { command: [x], inputs: { i: volumes.v } } }\n',
      'could not read the source of volume v: it has links that lead out of it',
    ],
    [
      'a concurrency group that cannot be evaluated, before anything is uploaded',
      () => writeFileSync(join(cwd, 'data'), 'x'),
      `params: { list: [1] }\nconcurrency: { group: 'g-\${{ params.list[5] }}' }\n${SOURCE}`,
      'could not evaluate the concurrency group: ',
    ],
    [
      'a concurrency group in its short form',
      () => writeFileSync(join(cwd, 'data'), 'x'),
      `params: { list: [1] }\nconcurrency: 'g-\${{ params.list[5] }}'\n${SOURCE}`,
      'could not evaluate the concurrency group: ',
    ],
  ])('reject %s', async (_what, prepare, text, reason) => {
    prepare();
    const before = readdirSync(cwd);
    const planned = await sluice(text, 'plan');
    expect(planned).toMatchObject({ exitCode: 2, err: expect.stringContaining(reason) });
    expect(planned.err).toContain('p.yaml:');
    expect(readdirSync(cwd)).toEqual([...before, 'p.yaml'].sort());
    const run = await sluice(text, 'run');
    expect(run).toMatchObject({ exitCode: planned.exitCode, err: expect.stringContaining(reason) });
    expect(existsSync(join(cwd, 'one', 'n'))).toBe(false);
    expect(existsSync(join(cwd, 'home', 'sources'))).toBe(false);
  });
});

const NOBODY = 65_534;

/** Root may read everything: its rights are given up meanwhile. */
async function asOrdinaryUser<T>(action: () => Promise<T>): Promise<T> {
  if (process.getuid?.() !== 0) return action();
  chownSync(cwd, NOBODY, NOBODY);
  process.seteuid?.(NOBODY);
  try {
    return await action();
  } finally {
    process.seteuid?.(0);
  }
}

test.each(['file', 'directory'])('plan and run reject a source with a %s that its user cannot read', async (kind) => {
  await asOrdinaryUser(async () => {
    mkdirSync(join(cwd, 'data', 'directory'), { recursive: true });
    writeFileSync(join(cwd, 'data', 'file'), 'x');
    chmodSync(join(cwd, 'data', kind), 0);
    for (const verb of ['plan', 'run']) {
      const { exitCode, err } = await sluice(SOURCE, verb);
      expect(exitCode).toBe(2);
      expect(err).toMatch(new RegExp(`could not read the source of volume v: EACCES.*/data/${kind}'`));
    }
    chmodSync(join(cwd, 'data', kind), 0o700);
  });
});
