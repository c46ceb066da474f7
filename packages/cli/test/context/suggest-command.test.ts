import { spawnSync } from 'node:child_process';
import { expect, test } from 'vitest';
import { fromRunRefusal } from '../../src/context/refuse.ts';
import { suggestCommand } from '../../src/context/suggest-command.ts';
import { portableRerunCommand } from '../../src/runs/rerun-command.ts';
import { selectRun } from '../../src/runs/select-run.ts';
import { createTestContext } from '../recording-terminal.ts';

test('suggestCommand repeats the global options and is read back by a shell word by word', () => {
  const words = ['run', 'my file.yaml', '--reuse', '-p', "n=it's 5", '-p', 'list=[1, 2]', '-p', 'empty='];
  const line = suggestCommand(words, { home: '/a b', cluster: 'far', cores: 2, json: true });
  const { stdout } = spawnSync(
    'sh',
    ['-c', `sluice() { for word in "$@"; do printf '%s\\n' "$word"; done; }; ${line}`],
    {
      encoding: 'utf8',
    },
  );
  expect(stdout.split('\n').slice(0, -1)).toEqual([...words, '--home', '/a b', '--cluster', 'far', '--cores', '2']);
});

test('suggestCommand leaves plain words plain', () => {
  expect(suggestCommand(['why', 'abc123', 'fit/x-1'])).toBe('sluice why abc123 fit/x-1');
});

test('fromRunRefusal and selectRun repeat the global options in the commands that they suggest', async () => {
  const options = { home: '/far', cluster: 'c', json: true };
  const message = (code: 'RUN_FINISHED' | 'RUN_KNOWN', rerun?: string) =>
    fromRunRefusal({ code, message: 'm' }, { options, runId: 'r1', rerun }).message;
  expect(message('RUN_FINISHED')).toContain('with: sluice run FILE --reuse --home /far --cluster c');
  expect(message('RUN_FINISHED', 'sluice run x.yaml --reuse')).toContain('with: sluice run x.yaml --reuse');
  expect(message('RUN_KNOWN')).toBe('m; resume it with: sluice resume r1 --home /far --cluster c');
  const missing = await selectRun('/nowhere-at-all', { prefix: 'abc', options });
  expect(missing).toMatchObject({ error: { message: expect.stringContaining('sluice runs --home /far --cluster c') } });
});

test('portableRerunCommand keeps what the user gave, with absolute paths and without the home', () => {
  const context = createTestContext({ cwd: '/project/dir' });
  const options = { param: { n: '5' }, root: '..', ignoreImages: true, profile: 'p.yaml', home: 'h', cluster: 'far' };
  expect(portableRerunCommand('my.yaml', { context, options })).toEqual([
    ...['run', '/project/dir/my.yaml', '--reuse', '-p', 'n=5', '--root', '/project', '--ignore-images'],
    ...['--profile', '/project/dir/p.yaml', '--cluster', 'far'],
  ]);
});
