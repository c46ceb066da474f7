import { expect, test } from 'vitest';
import { readRecordedCommand, recordCommand } from '../../src/runs/recorded-command.ts';

test('recordCommand keeps what the user gave, with absolute paths and without the home', () => {
  const context = { cwd: '/project/dir' };
  const options = { param: { n: '5' }, root: '..', ignoreImages: true, profile: 'p.yaml', home: 'h', cluster: 'far' };
  expect(recordCommand('my.yaml', { context, options })).toEqual([
    ...['run', '/project/dir/my.yaml', '-p', 'n=5', '--root', '/project', '--ignore-images'],
    ...['--profile', '/project/dir/p.yaml', '--cluster', 'far'],
  ]);
});

test('recordCommand keeps the name of a profile', () => {
  const words = recordCommand('p.yaml', { context: { cwd: '/project' }, options: { profile: 'lab' } });
  expect(words).toEqual(['run', '/project/p.yaml', '--profile', 'lab']);
});

test('readRecordedCommand reads back every option', () => {
  const options = {
    ...{ param: { n: '-5', text: 'a=b', empty: '' }, root: '/project', ignoreImages: true, parallelism: 3 },
    ...{ stopAtApproval: true, profile: '/p.yaml', service: 'https://x', account: 'a', cluster: 'c', cpu: 2 },
  };
  const words = recordCommand('/project/my.yaml', { context: { cwd: '/' }, options });
  expect(readRecordedCommand(words)).toEqual({ file: '/project/my.yaml', options });
});

test('readRecordedCommand reads what earlier versions have recorded', () => {
  const words = ['run', '/my.yaml', '--reuse', '-p', 'n=5', '--no-wait', '--cores', '2'];
  expect(readRecordedCommand(words)).toEqual({
    file: '/my.yaml',
    options: { param: { n: '5' }, stopAtApproval: true, cpu: 2 },
  });
});
