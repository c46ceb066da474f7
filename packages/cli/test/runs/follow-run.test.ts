import { tmpdir } from 'node:os';
import type { RunReport } from '@sluice/run';
import type { RunHandle } from '@sluice/runner';
import { expect, test, vi } from 'vitest';
import { followRun } from '../../src/runs/follow-run.ts';
import { createTestContext } from '../recording-terminal.ts';

function report(status: RunReport['status']): RunReport {
  const base = { runId: 'r1', pipeline: 'p', createdAt: 0, startedAt: 0, clusterId: 'local', accountId: 'local' };
  const end = status === 'suspended' ? {} : { endedAt: 1 };
  return { ...base, ...end, status, steps: [], failures: [], outputs: {} };
}

/** A run that does what it is told and records it. */
function createFakeRun(): { run: RunHandle; told: string[]; end: (status: RunReport['status']) => void } {
  const told: string[] = [];
  let end: (status: RunReport['status']) => void = () => {};
  const finished = new Promise<RunReport>((resolve) => {
    end = (status) => resolve(report(status));
  });
  const run: RunHandle = {
    runId: 'r1',
    directory: '/home/runs/r1',
    finished,
    cancel: (by) => told.push(`cancel by ${by}`),
    suspend: async () => {
      told.push('suspend');
      end('suspended');
    },
    approve: () => false,
    recorded: async () => false,
  };
  return { run, told, end: (status) => end(status) };
}

function drive(interactive: boolean, options = {}) {
  // A home that exists: without one, there is nothing to resume.
  const context = createTestContext({ cwd: '/', env: { SLUICE_HOME: tmpdir() }, interactive });
  const fake = createFakeRun();
  const progress = { report: () => {}, print: () => {}, close: () => {} };
  return { context, ...fake, exitCode: followRun(fake.run, { context, progress, options }) };
}

test.each([
  ['succeeded', 0],
  ['failed', 1],
  ['canceled', 1],
  ['suspended', 75],
] as const)('followRun ends a run that is %s with %d', async (status, exitCode) => {
  const driven = drive(false);
  driven.end(status);
  expect(await driven.exitCode).toBe(exitCode);
});

test.each([
  ['succeeded', 1],
  ['suspended', 75],
] as const)(
  'followRun says that the file of a run that is %s could not be written, and ends with %d',
  async (status, code) => {
    const driven = drive(false, { junit: '/dev/null', json: true });
    driven.end(status);
    expect(await driven.exitCode).toBe(code);
    const { out, err } = driven.context.terminal.written();
    expect(err).toContain('could not write /dev/null: it is not a regular file');
    expect(JSON.parse(out)).toMatchObject({ type: 'error', code: 'REJECTED' });
  },
);

test.each([true, false])(
  'followRun waits for a second SIGINT and suspends without one (terminal: %s)',
  async (interactive) => {
    vi.useFakeTimers();
    try {
      const driven = drive(interactive);
      driven.context.send('SIGINT');
      expect(driven.told).toEqual([]);
      await vi.advanceTimersByTimeAsync(2_000);
      expect(await driven.exitCode).toBe(130);
      expect(driven.told).toEqual(['suspend']);
      expect(driven.context.terminal.written().out).toContain('sluice resume r1');
    } finally {
      vi.useRealTimers();
    }
  },
);

test.each([true, false])('followRun cancels at the second SIGINT (terminal: %s)', async (interactive) => {
  const driven = drive(interactive);
  driven.context.send('SIGINT');
  driven.context.send('SIGINT');
  expect(driven.told).toEqual(['cancel by interrupt']);
  driven.end('canceled');
  expect(await driven.exitCode).toBe(130);
  expect(driven.told).toEqual(['cancel by interrupt']);
});

test('followRun suspends on SIGTERM, with the exit code of a suspended run, and continues after SIGHUP', async () => {
  const driven = drive(true);
  driven.context.send('SIGHUP');
  expect(driven.told).toEqual([]);
  driven.context.send('SIGTERM');
  expect(await driven.exitCode).toBe(75);
  expect(driven.told).toEqual(['suspend']);
});

test('followRun leaves in time after SIGTERM, also when letting go hangs', async () => {
  vi.useFakeTimers();
  try {
    const context = createTestContext({ cwd: '/', interactive: true });
    const fake = createFakeRun();
    const left: number[] = [];
    const hanging = { ...fake.run, suspend: () => new Promise<void>(() => {}) };
    const leaving = { ...context, exit: (code: number) => void left.push(code) as never };
    const progress = { report: () => {}, print: () => {}, close: () => {} };
    void followRun(hanging, { context: leaving, progress, options: {} });
    context.send('SIGTERM');
    await vi.advanceTimersByTimeAsync(5_000);
    expect(left).toEqual([75]);
  } finally {
    vi.useRealTimers();
  }
});
