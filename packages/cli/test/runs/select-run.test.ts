import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeEach, expect, onTestFinished, test } from 'vitest';
import { runCommandLine } from '../../src/command-line/run-command-line.ts';
import { createTestContext } from '../recording-terminal.ts';

const createFile = (name: string) => `version: 1
name: ${name}
steps:
  agree: { approval: { message: "Deploy to \${{ run.name }} now?" } }
  deploy: { needs: agree, command: ["true"] }
`;

let root: string;
/** Directories of two pipelines that share a home, and one without a pipeline. */
let staging: string;
let production: string;

beforeEach(async () => {
  root = mkdtempSync(join(tmpdir(), 'sluice-select-'));
  onTestFinished(() => rmSync(root, { recursive: true, force: true, maxRetries: 10 }));
  [staging, production] = [join(root, 'staging'), join(root, 'production')];
  for (const [name, directory] of Object.entries({ staging, production })) {
    mkdirSync(directory);
    writeFileSync(join(directory, 'pipeline.yaml'), createFile(name));
    expect(await command(directory, 'run', '--stop-at-approval')).toMatchObject({ exitCode: 75 });
  }
});

/** Executes a command with the home that all directories share. */
async function command(cwd: string, ...args: readonly string[]) {
  const context = createTestContext({ cwd, env: { PATH: process.env.PATH } });
  const exitCode = await runCommandLine([...args, '--home', join(root, 'home')], context);
  return { exitCode, ...context.terminal.written() };
}

async function statuses(): Promise<Readonly<Record<string, string>>> {
  const { out } = await command(root, 'runs', '--json');
  const runs = out
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  // The newest of each pipeline.
  return Object.fromEntries(runs.map(({ pipeline, status }) => [pipeline, status]).toReversed());
}

const AMBIGUOUS =
  /could not choose a run: 2 could be meant; name one of them:\n(.*production.*\n.*staging|.*staging.*\n.*production)/;

test.each([['approve', 'agree'], ['reject', 'agree'], ['cancel'], ['detach'], ['resume']])(
  '%s %s names the runs of several pipelines, and changes none',
  async (...args) => {
    const { exitCode, err } = await command(root, ...args);
    expect(exitCode).toBe(2);
    expect(err).toMatch(AMBIGUOUS);
    const suggested = /sluice ([\w -]+?) --home/.exec(err)?.[1];
    expect(suggested?.startsWith(args.join(' '))).toBe(true);
    expect(await statuses()).toEqual({ staging: 'suspended', production: 'suspended' });
  },
);

test('approve prefers the pipeline of the directory, and says what was approved', async () => {
  const { exitCode, out } = await command(staging, 'approve', 'agree');
  expect([exitCode, out]).toEqual([
    0,
    expect.stringMatching(/^approved agree of run \w+ of staging \("Deploy to staging now\?"\); /),
  ]);
  expect(await command(staging, 'resume')).toMatchObject({ exitCode: 0 });
  expect(await statuses()).toEqual({ staging: 'succeeded', production: 'suspended' });
});

test('approve finds the only run in which the step waits', async () => {
  expect(await command(production, 'reject', 'agree')).toMatchObject({ exitCode: 0 });
  expect((await command(production, 'resume')).exitCode).not.toBe(0);
  const { exitCode, out } = await command(root, 'approve', 'agree');
  expect([exitCode, out]).toEqual([0, expect.stringContaining('of staging')]);
  const { err } = await command(root, 'approve', 'agree');
  expect(err).toContain('could not find a run in which agree waits for approval');
});

test('cancel and rerun prefer the pipeline of the directory', async () => {
  expect(await command(production, 'cancel')).toMatchObject({ exitCode: 0 });
  expect(await statuses()).toEqual({ staging: 'suspended', production: 'canceled' });
  expect(await command(staging, 'cancel')).toMatchObject({ exitCode: 0 });
  expect(await command(root, 'rerun')).toMatchObject({ exitCode: 2, err: expect.stringMatching(AMBIGUOUS) });
  expect(await command(production, 'rerun')).toMatchObject({ exitCode: 75 });
  expect(await statuses()).toEqual({ staging: 'canceled', production: 'suspended' });
});
