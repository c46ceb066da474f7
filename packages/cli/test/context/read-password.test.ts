import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { runCommandLine } from '../../src/command-line/run-command-line.ts';
import { createTestContext } from '../recording-terminal.ts';

let cwd: string;
beforeEach(() => {
  cwd = mkdtempSync(join(tmpdir(), 'sluice-input-'));
});
afterEach(() => rmSync(cwd, { recursive: true }));

/** Runs a command of a user at a terminal. */
async function call(args: readonly string[], env: NodeJS.ProcessEnv = {}) {
  const context = createTestContext({ cwd, env: { HOME: cwd, ...env }, interactive: true });
  const exitCode = await runCommandLine(args, context);
  return { exitCode, err: context.terminal.written().err };
}

// Nothing listens at this address: what is missing is reported before a request is sent.
const LOGIN = ['login', 'http://127.0.0.1:9', '--no-input'];

test.each<[args: readonly string[], env: NodeJS.ProcessEnv, why: string]>([
  [LOGIN, {}, 'no e-mail address; set SLUICE_EMAIL, or pass a token with --token-stdin'],
  [
    LOGIN,
    { SLUICE_EMAIL: 'a@example.org' },
    'could not ask for a password: --no-input is set; pass it on standard input or set SLUICE_PASSWORD',
  ],
  [[...LOGIN, '--token-stdin'], {}, 'could not ask for a token: --no-input is set; pass it on standard input'],
])('%j does not ask, and says what to set', async (args, env, why) => {
  expect(await call(args, env)).toEqual({ exitCode: 2, err: `could not log in at http://127.0.0.1:9: ${why}\n` });
});

test('admin user does not ask for a password with --no-input, and takes that of the variable', async () => {
  const config = join(cwd, 'service.yaml');
  const clusters = [
    { id: 'main', engine: 'process', accounts: ['a'], instanceTypes: [{ id: 'small', cpu: 1, memory: '1GB' }] },
  ];
  writeFileSync(config, JSON.stringify({ root: join(cwd, 'root'), clusters }));
  const user = (verb: string) => ['admin', 'user', verb, 'ada@example.org', '--config', config, '--no-input'];
  const err = 'could not ask for a password: --no-input is set; pass it on standard input or set SLUICE_PASSWORD\n';
  expect(await call(user('add'))).toEqual({ exitCode: 2, err });
  expect(await call(user('add'), { SLUICE_PASSWORD: 'secret-1' })).toEqual({ exitCode: 0, err: '' });
  expect(await call(user('password'))).toEqual({ exitCode: 2, err });
});
