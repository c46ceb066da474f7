import { spawnSync } from 'node:child_process';
import { expect, test } from 'vitest';
import { fromRunError } from '../../src/context/reject.ts';
import { suggestCommand } from '../../src/context/suggest-command.ts';
import { selectRun } from '../../src/runs/select-run.ts';

test('suggestCommand repeats the global options and is read back by a shell word by word', () => {
  const words = ['run', 'my file.yaml', '--reuse', '-p', "n=it's 5", '-p', 'list=[1, 2]', '-p', 'empty='];
  const line = suggestCommand(words, {
    home: '/a b',
    cluster: 'far',
    cpu: 2,
    json: true,
    color: 'never',
    verbose: true,
  });
  const { stdout } = spawnSync(
    'sh',
    ['-c', `sluice() { for word in "$@"; do printf '%s\\n' "$word"; done; }; ${line}`],
    {
      encoding: 'utf8',
    },
  );
  expect(stdout.split('\n').slice(0, -1)).toEqual([...words, '--home', '/a b', '--cluster', 'far', '--cpu', '2']);
});

test('suggestCommand leaves plain words plain', () => {
  expect(suggestCommand(['why', '-r', 'abc123', 'fit/x-1'])).toBe('sluice why -r abc123 fit/x-1');
});

test('suggestCommand names an account with its cluster in one option', () => {
  expect(suggestCommand(['show'], { account: 'physics', cluster: 'main' })).toBe('sluice show --account main/physics');
  expect(suggestCommand(['show'], { account: 'physics' })).toBe('sluice show --account physics');
});

test('suggestCommand repeats only the options that apply to the command', () => {
  const options = { home: 'h', service: 'https://x', cpu: 2 };
  expect(suggestCommand(['show', 'abc123'], options)).toBe('sluice show abc123 --home h --service https://x');
  expect(suggestCommand(['schedule', 'list'], options)).toBe('sluice schedule list --home h');
});

test('fromRunError and selectRun repeat the global options in the commands that they suggest', async () => {
  const options = { home: '/far', cluster: 'c', json: true };
  const message = (code: 'RUN_FINISHED' | 'RUN_KNOWN') =>
    fromRunError({ code, message: 'm' }, { options, runId: 'r1' }).message;
  expect(message('RUN_FINISHED')).toContain('with: sluice rerun r1 --home /far --cluster c');
  expect(message('RUN_KNOWN')).toBe('m; resume it with: sluice resume r1 --home /far --cluster c');
  const missing = await selectRun('/nowhere-at-all', { prefix: 'abc', options });
  expect(missing).toMatchObject({ error: { message: expect.stringContaining('sluice runs --home /far --cluster c') } });
});
