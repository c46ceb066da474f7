import { expect, test } from 'vitest';
import { SYNONYMS } from '../../src/command-line/command-synonyms.ts';
import { createCommandLine } from '../../src/command-line/create-command-line.ts';
import { runCommandLine } from '../../src/command-line/run-command-line.ts';
import { createTestContext } from '../recording-terminal.ts';

async function run(...args: string[]) {
  const context = createTestContext({ cwd: '/' });
  const exitCode = await runCommandLine(args, context);
  return { exitCode, ...context.terminal.written() };
}

test('runCommandLine ends with 0 for help and version', async () => {
  expect(await run('--help')).toMatchObject({
    exitCode: 0,
    out: expect.stringContaining('\n  run [file] '),
    err: '',
  });
  expect(await run('help')).toMatchObject({ exitCode: 0, out: expect.stringContaining('Usage: sluice') });
  expect(await run('--version')).toMatchObject({ exitCode: 0, out: expect.stringMatching(/^\d+\.\d+\.\d+\n$/) });
  expect(await run('help', 'run')).toMatchObject({ exitCode: 0, out: expect.stringContaining('Usage: sluice run') });
  expect(await run('admin', 'user', 'add', '-h')).toMatchObject({
    exitCode: 0,
    out: expect.stringContaining('sluice admin user add'),
  });
  expect(await run('run', '--help')).toMatchObject({ exitCode: 0, out: expect.stringContaining('--home <dir>') });
});

test.each([
  [[], 'Usage: sluice'],
  [['rnu'], 'Did you mean run?'],
  [['adopt'], "missing required argument 'run'"],
  [['run', 'a.yaml', '--parallelism', 'two'], 'It must be a whole number.'],
  [['run', 'a.yaml', '--param', 'seed'], 'It must have the form name=value.'],
  [['run', 'a.yaml', 'b.yaml'], 'too many arguments'],
  [['logs'], "missing required argument 'step[/cell]'"],
  [['why'], "missing required argument 'step[/cell]'"],
  [['NOSUCH', '--help'], "unknown command 'NOSUCH'"],
  [['rnu', '-h'], 'Did you mean run?'],
  [['--home', '/nowhere', 'rnu', '--help'], 'Did you mean run?'],
  [['help', 'rnu'], 'Did you mean run?'],
  [['status'], 'Did you mean show?'],
  [['--home', '/nowhere', 'ps'], 'Did you mean runs?'],
  [['help', 'stop'], 'Did you mean cancel?'],
  [['retry', '-h'], 'Did you mean rerun?'],
  [['admin', 'usr', '--help'], 'Did you mean user?'],
  [['admin', 'user', 'ad', '--help'], 'Did you mean add?'],
  [['doctor', '--service', 'https://x'], "unknown option '--service'"],
  [['--service', 'https://x', 'doctor'], "option '--service' does not apply to `sluice doctor`"],
  [['runs', '--account', 'a/b/c'], "option '--account' must be"],
  [['runs', '--account', 'east/a', '--cluster', 'main'], 'is on another cluster'],
  [['serve'], "required option '--config <file>'"],
])('runCommandLine ends with 2 for wrong usage: %j', async (args, message) => {
  expect(await run(...args)).toMatchObject({ exitCode: 2, err: expect.stringContaining(message) });
});

test('a synonym of another system names a command of ours, and is none', async () => {
  const { program } = createCommandLine(createTestContext({ cwd: '/' }));
  const names = new Set(program.commands.map((command) => command.name()));
  for (const [name, ours] of SYNONYMS) {
    expect(names, name).not.toContain(name);
    expect(names, ours).toContain(ours);
  }
});

test('runCommandLine ends with 2 for a file that does not exist', async () => {
  for (const command of ['check', 'plan', 'run']) {
    expect(await run(command, '/nowhere/p.yaml', '--home', '/nowhere')).toMatchObject({
      exitCode: 2,
      err: expect.stringContaining('could not read /nowhere/p.yaml: the file does not exist'),
    });
  }
});

test('--color decides whether a command prints colors, before the command or after it', async () => {
  const colored = expect.stringContaining('\u001b[');
  expect(await run('check', 'no-such-file.yaml')).toMatchObject({
    exitCode: 2,
    err: expect.not.stringContaining('\u001b'),
  });
  expect(await run('check', 'no-such-file.yaml', '--color=always')).toMatchObject({ exitCode: 2, err: colored });
  expect(await run('--color', 'always', 'check', 'no-such-file.yaml')).toMatchObject({ exitCode: 2, err: colored });
  expect(await run('check', '--color=red')).toMatchObject({
    exitCode: 2,
    err: expect.stringContaining('Allowed choices are auto, always, never.'),
  });
});
