import type { RunReport } from '@sluice/run';
import { expect, test } from 'vitest';
import { createRunLife } from '../../src/run/run-life.ts';

const report = (status: RunReport['status'], message?: string): RunReport => ({
  ...{ runId: 'r1', pipeline: 'test', createdAt: 0, startedAt: 0, clusterId: 'here', accountId: 'me' },
  ...{ steps: [], failures: [], outputs: {}, status },
  ...(message !== undefined && { message }),
});
const diskFull = Object.assign(new Error('no space left on device'), { code: 'ENOSPC' });

function createLife() {
  const calls: string[] = [];
  const life = createRunLife((message) => report('suspended', message));
  life.onRelease(() => void calls.push('loop'));
  life.onRelease(async () => {
    await Promise.resolve();
    calls.push('journal');
  });
  life.onFinished(({ status }, unstored) => void calls.push(`${status}, unstored: ${unstored}`));
  return { life, calls };
}

test('createRunLife: a run that ends is announced, then released, then resolved', async () => {
  const { life, calls } = createLife();
  life.end(report('succeeded'));
  await life.conclude();
  expect(calls).toEqual(['succeeded, unstored: undefined', 'loop', 'journal']);
  expect(await life.finished).toMatchObject({ status: 'succeeded' });
});

test('createRunLife: a full disk suspends a run, and finishes one whose end is durable', async () => {
  const running = createLife();
  running.life.fail(diskFull);
  expect(await running.life.finished).toMatchObject({ status: 'suspended', message: diskFull.message });
  expect(running.calls).toEqual(['loop', 'journal']);

  const ended = createLife();
  ended.life.end(report('failed'));
  ended.life.fail(diskFull);
  expect(await ended.life.finished).toMatchObject({ status: 'failed' });
  expect(ended.calls[0]).toBe(`failed, unstored: ${diskFull.message}`);
});

test('createRunLife: a bug rejects, before and after the end is durable', async () => {
  for (const ends of [false, true]) {
    const { life, calls } = createLife();
    if (ends) life.end(report('succeeded'));
    life.fail(new TypeError('a bug'));
    await expect(life.finished).rejects.toThrow('a bug');
    expect(calls).toEqual(['loop', 'journal']);
  }
});

test('createRunLife: only the first outcome counts, and everything is released once', async () => {
  const { life, calls } = createLife();
  const suspended = life.suspend('left');
  life.fail(new TypeError('a bug'));
  life.end(report('succeeded'));
  await life.conclude();
  await life.suspend('again');
  await suspended;
  expect(await life.finished).toMatchObject({ status: 'suspended', message: 'left' });
  expect(calls).toEqual(['loop', 'journal']);
});

test('createRunLife: leaving a run whose report is being stored waits for it, and later nothing is stored', async () => {
  const { life, calls } = createLife();
  life.end(report('succeeded'));
  let write = () => {};
  const written = new Promise<void>((resolve) => {
    write = resolve;
  });
  const stored = life.store(async () => {
    await written;
    calls.push('report');
  });
  const suspended = life.suspend('left');
  // As long as the file system takes, nothing is released.
  await new Promise((resolve) => setImmediate(resolve));
  expect(calls).toEqual([]);
  write();
  await Promise.all([stored, suspended]);
  expect(calls).toEqual(['report', 'loop', 'journal']);
  expect(await life.finished).toMatchObject({ status: 'suspended' });
  await life.store(async () => void calls.push('late'));
  expect(calls).not.toContain('late');
});

test('createRunLife: an abandoned run is released and has no outcome', async () => {
  const { life, calls } = createLife();
  await life.abandon();
  life.fail(new TypeError('a bug'));
  await life.suspend('left');
  const outcome = await Promise.race([life.finished, Promise.resolve('none')]);
  expect(outcome).toBe('none');
  expect(calls).toEqual(['loop', 'journal']);
});
