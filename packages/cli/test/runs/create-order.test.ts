import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { orderWords, runOrder } from '@sluice/run';
import { expect, onTestFinished, test } from 'vitest';
import { createOrder, orderOptions } from '../../src/runs/create-order.ts';

test('createOrder keeps what the user gave, with absolute paths and without the home', () => {
  const context = { cwd: '/project/dir', env: {} };
  const options = {
    param: { n: { file: 'n.yaml' } },
    root: '..',
    ignoreImages: true,
    profile: 'p.yaml',
    home: 'h',
    cluster: 'far',
  };
  const order = createOrder('my.yaml', { params: { n: '5' }, context, options });
  expect(order).toEqual({
    ...{ file: '/project/dir/my.yaml', params: { n: '5' }, root: '/project', ignoreImages: true },
    ...{ profile: '/project/dir/p.yaml', cluster: 'far' },
  });
  expect(runOrder.parse(order)).toEqual(order);
});

test('createOrder keeps the name of a profile', () => {
  const order = createOrder('p.yaml', {
    params: {},
    context: { cwd: '/project', env: {} },
    options: { profile: 'lab' },
  });
  expect(order).toEqual({ file: '/project/p.yaml', params: {}, profile: 'lab' });
});

test('createOrder keeps the service that variables select', () => {
  const env = { SLUICE_SERVICE: 'https://one.example', SLUICE_ACCOUNT: 'mine', SLUICE_TOKEN: 'secret' };
  expect(
    createOrder('p.yaml', { params: {}, context: { cwd: '/project', env }, options: { account: 'other' } }),
  ).toEqual({
    ...{ file: '/project/p.yaml', params: {}, service: 'https://one.example', account: 'other' },
  });
});

test('createOrder keeps no variable that the named profile replaces', () => {
  const directory = mkdtempSync(join(tmpdir(), 'sluice-profile-'));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  const profile = join(directory, 'p.yaml');
  writeFileSync(profile, 'service: https://named.example\n');
  const context = { cwd: '/', env: { SLUICE_SERVICE: 'https://other.example', SLUICE_ACCOUNT: 'mine' } };
  const order = createOrder('p.yaml', { params: {}, context, options: { profile } });
  expect(order).toEqual({ file: '/p.yaml', params: {}, profile, account: 'mine' });
});

test('an order has every option of its command, and its words are that command', () => {
  const options = {
    ...{ param: { n: '-5', text: 'a=b', empty: '', at: '@x' }, root: '/project', ignoreImages: true, parallelism: 3 },
    ...{ label: { team: 'a=b', nightly: '' } },
    ...{ stopAtApproval: true, profile: '/p.yaml', service: 'https://x', account: 'a', cluster: 'c', cpu: 2 },
  };
  const order = createOrder('/project/my.yaml', { params: options.param, context: { cwd: '/', env: {} }, options });
  expect(runOrder.parse(order)).toEqual(order);
  expect(orderOptions(order)).toEqual(options);
  expect(orderWords(order)).toEqual([
    ...['run', '/project/my.yaml', '-p', 'n=-5', '-p', 'text=a=b', '-p', 'empty=', '-p', 'at=@@x'],
    ...['--label', 'team=a=b', '--label', 'nightly=', '--root', '/project'],
    ...['--ignore-images', '--parallelism', '3', '--stop-at-approval', '--profile', '/p.yaml'],
    ...['--service', 'https://x', '--account', 'c/a', '--cpu', '2'],
  ]);
});
