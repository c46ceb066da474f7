import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { readRecordedCommand, recordCommand } from '../../src/runs/recorded-command.ts';

test('recordCommand keeps what the user gave, with absolute paths and without the home', () => {
  const context = { cwd: '/project/dir', env: {} };
  const options = { param: { n: '5' }, root: '..', ignoreImages: true, profile: 'p.yaml', home: 'h', cluster: 'far' };
  expect(recordCommand('my.yaml', { context, options })).toEqual([
    ...['run', '/project/dir/my.yaml', '-p', 'n=5', '--root', '/project', '--ignore-images'],
    ...['--profile', '/project/dir/p.yaml', '--cluster', 'far'],
  ]);
});

test('recordCommand keeps the name of a profile', () => {
  const words = recordCommand('p.yaml', { context: { cwd: '/project', env: {} }, options: { profile: 'lab' } });
  expect(words).toEqual(['run', '/project/p.yaml', '--profile', 'lab']);
});

test('recordCommand keeps the service that variables select', () => {
  const env = { SLUICE_SERVICE: 'https://one.example', SLUICE_ACCOUNT: 'mine', SLUICE_TOKEN: 'secret' };
  const context = { cwd: '/project', env };
  const { file, options } = readRecordedCommand(recordCommand('p.yaml', { context, options: { account: 'other' } }));
  expect({ file, options }).toEqual({
    file: '/project/p.yaml',
    options: { param: {}, service: 'https://one.example', account: 'other' },
  });
});

test('recordCommand keeps no variable that the named profile replaces', () => {
  const directory = mkdtempSync(join(tmpdir(), 'sluice-profile-'));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  const profile = join(directory, 'p.yaml');
  writeFileSync(profile, 'service: https://named.example\n');
  const context = { cwd: '/', env: { SLUICE_SERVICE: 'https://other.example', SLUICE_ACCOUNT: 'mine' } };
  const { options } = readRecordedCommand(recordCommand('p.yaml', { context, options: { profile } }));
  expect(options).toEqual({ param: {}, profile, account: 'mine' });
});

test('readRecordedCommand reads back every option', () => {
  const options = {
    ...{ param: { n: '-5', text: 'a=b', empty: '' }, root: '/project', ignoreImages: true, parallelism: 3 },
    ...{ stopAtApproval: true, profile: '/p.yaml', service: 'https://x', account: 'a', cluster: 'c', cpu: 2 },
  };
  const words = recordCommand('/project/my.yaml', { context: { cwd: '/', env: {} }, options });
  expect(readRecordedCommand(words)).toEqual({ file: '/project/my.yaml', options });
});
