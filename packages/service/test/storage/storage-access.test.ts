import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createThreadLimit, StorageSilent, tryInThread } from '../../src/storage/storage-access.ts';

describe('tryInThread', () => {
  beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }));
  afterEach(() => void vi.useRealTimers());

  /** A storage whose calls wait until `answer` is called. */
  function createStorage() {
    let isSilent = false;
    let answer = () => {};
    const answered = new Promise<void>((resolve) => {
      answer = resolve;
    });
    return {
      access: { fault: async () => (isSilent ? 'it is silent' : undefined), inThread: createThreadLimit() },
      answered,
      answer: () => answer(),
      silence: () => {
        isSilent = true;
      },
    };
  }

  it('returns what the calls return, and passes on their errors', async () => {
    const { access } = createStorage();
    expect(await tryInThread(access, async () => undefined)).toBeUndefined();
    await expect(tryInThread(access, () => Promise.reject(new Error('EIO')))).rejects.toThrow('EIO');
  });

  it('waits for a storage that is slow, and makes no call to one that does not answer', async () => {
    const { access, answered, answer, silence } = createStorage();
    const slow = tryInThread(access, async () => {
      await answered;
      return 'slow';
    });
    await vi.advanceTimersByTimeAsync(10_000);
    answer();
    expect(await slow).toBe('slow');
    silence();
    const calls = vi.fn(async () => {});
    await expect(tryInThread(access, calls)).rejects.toThrow(StorageSilent);
    expect(calls).not.toHaveBeenCalled();
  });

  it('gives up once the storage does not answer, and leaves out calls that have not begun by then', async () => {
    const { access, answered, answer, silence } = createStorage();
    const done: string[] = [];
    const names = Array.from({ length: 8 }, (_, i) => `call ${i}`);
    const results = names.map((name) =>
      tryInThread(access, async () => {
        await answered;
        done.push(name);
      }),
    );
    const outcomes = Promise.allSettled(results);
    await vi.advanceTimersByTimeAsync(3000);
    silence();
    await vi.advanceTimersByTimeAsync(1000);
    expect((await outcomes).map(({ status }) => status)).toEqual(names.map(() => 'rejected'));
    answer();
    // In order: the last call begins when all others are over.
    await access.inThread(async () => {});
    expect(done.length).toBeGreaterThan(0);
    expect(done).toEqual(names.slice(0, done.length));
    expect(done.length).toBeLessThan(4);
  });
});
