import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { DockerError, repeatFailed } from '../../../src/engines/docker/docker-api.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** Calls a daemon that replies with these statuses, and from then on with the last of them; 0 is a success. */
async function callWith(...statuses: readonly number[]) {
  let calls = 0;
  const call = async () => {
    const status = statuses[Math.min(calls++, statuses.length - 1)]!;
    if (status !== 0) throw new DockerError(status, `reply ${status}`);
    return 'a reply';
  };
  const outcome = repeatFailed(call).catch((error: Error) => error.message);
  await vi.runAllTimersAsync();
  return { outcome: await outcome, calls };
}

test('repeatFailed repeats a call while the daemon replies with 500, a few times', async () => {
  expect(await callWith(0)).toEqual({ outcome: 'a reply', calls: 1 });
  expect(await callWith(500, 500, 0)).toEqual({ outcome: 'a reply', calls: 3 });
  expect(await callWith(500)).toEqual({ outcome: 'reply 500', calls: 5 });
});

test('repeatFailed repeats nothing that the daemon rejects', async () => {
  expect(await callWith(404)).toEqual({ outcome: 'reply 404', calls: 1 });
  expect(await callWith(500, 409)).toEqual({ outcome: 'reply 409', calls: 2 });
});
