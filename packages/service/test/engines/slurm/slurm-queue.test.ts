import { describe, expect, it } from 'vitest';
import type { SlurmCommands } from '../../../src/engines/slurm/slurm-commands.ts';
import { createQueueReader } from '../../../src/engines/slurm/slurm-queue.ts';

/** A `squeue` that answers when the test says so, with a job of which the name is the number of the call. */
function controlled() {
  const calls: { readonly users: string; readonly answer: (fails?: boolean) => void }[] = [];
  const slurm: SlurmCommands = {
    run: (_, args, { env = {} } = {}) =>
      new Promise((resolve, reject) => {
        const mark = env.SQUEUE_FORMAT!.split('|')[0];
        const text = `${mark}|7|RUNNING|n1|0|None${mark};call ${calls.length + 1}${mark};/d\n`;
        const answer = (fails = false) => (fails ? reject(new Error('no answer')) : resolve(text));
        calls.push({ users: args.find((word) => word.startsWith('--user=')) ?? '', answer });
      }),
  };
  const readQueue = createQueueReader(slurm);
  const read = async (...users: number[]) => (await readQueue(users)).get('d')?.[0]?.name;
  return { calls, read };
}

const called = async (calls: readonly unknown[], times: number) => {
  await expect.poll(() => calls.length).toBe(times);
};

describe('createQueueReader', () => {
  it('answers all calls during a squeue with the next one, which asks for the users of all', async () => {
    const { calls, read } = controlled();
    const first = read(1);
    await called(calls, 1);
    const later = [read(2), read(1), read(3, 2)];
    calls[0]!.answer();
    expect(await first).toBe('call 1');
    await called(calls, 2);
    calls[1]!.answer();
    expect(await Promise.all(later)).toEqual(['call 2', 'call 2', 'call 2']);
    expect(calls.map(({ users }) => users)).toEqual(['--user=1', '--user=2,1,3']);
  });

  it('gives no answer that is older than the call', async () => {
    const { calls, read } = controlled();
    const first = read(1);
    await called(calls, 1);
    calls[0]!.answer();
    await first;
    const second = read(1);
    await called(calls, 2);
    calls[1]!.answer();
    expect(await second).toBe('call 2');
  });

  it('reads again after a squeue that failed', async () => {
    const { calls, read } = controlled();
    const first = read(1);
    await called(calls, 1);
    const second = read(1);
    calls[0]!.answer(true);
    await expect(first).rejects.toThrow('no answer');
    await called(calls, 2);
    calls[1]!.answer();
    expect(await second).toBe('call 2');
  });
});
