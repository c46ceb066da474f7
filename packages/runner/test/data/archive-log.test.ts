import { expect, test } from 'vitest';
import { createLogArchive } from '../../src/data/archive-log.ts';
import type { RunSession } from '../../src/session/run-session.ts';

test('createLogArchive leaves no timer when every log is stored, which would keep the process alive', async () => {
  const timers = new Set<object>();
  const session = {
    clock: { now: () => 0 },
    setTimer() {
      const timer = {};
      timers.add(timer);
      return () => void timers.delete(timer);
    },
    facts: { known: [] },
    fail: (error: unknown) => expect.unreachable(String(error)),
    stopped: true,
  };
  const archive = createLogArchive(session as unknown as RunSession, {} as never);
  const at = { step: 0, cell: 0, attempt: 1 };
  archive.onEvent({ type: 'ended', at: 0, ...at, outcome: { result: 'failed', reason: 'failed' } } as never);
  const idle = archive.idle();
  expect(timers.size).toBe(1);
  await idle;
  expect(timers.size).toBe(0);
});
