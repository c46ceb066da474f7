import { describe, expect, it } from 'vitest';
import { GpuLeases } from '../../src/engines/gpu-leases.ts';

const quiet = { signal: undefined, onWait: () => {} };

describe('GpuLeases', () => {
  it('gives each GPU to one container at a time, in the order of the requests', async () => {
    const leases = new GpuLeases();
    const events: string[] = [];
    const ask = (key: string, ids: string[], count: number) =>
      leases
        .acquire(
          key,
          { ids, count },
          { signal: undefined, onWait: (holders) => events.push(`${key} waits ${holders}`) },
        )
        .then((got) => events.push(`${key} ${got.join('+')}`));
    await ask('a', ['0', '1'], 1);
    const both = ask('b', ['0', '1'], 2);
    const one = ask('c', ['0', '1'], 1);
    await ask('d', ['2'], 1);
    expect(events).toEqual(['a 0', 'b waits 1', 'c waits 1', 'd 2']);
    leases.release('a');
    await both;
    leases.release('b');
    await one;
    expect(events.slice(4)).toEqual(['b 0+1', 'c 0']);
  });

  it('repeats its answer, and knows what an earlier service has given', async () => {
    const leases = new GpuLeases();
    leases.restore('old', ['0']);
    expect(leases.holds('old', ['0'])).toBe(true);
    expect(await leases.acquire('new', { ids: ['0', '1'], count: 1 }, quiet)).toEqual(['1']);
    expect(await leases.acquire('new', { ids: ['0', '1'], count: 1 }, quiet)).toEqual(['1']);
  });

  it('gives nothing to a request that was given up', async () => {
    const leases = new GpuLeases();
    await leases.acquire('a', { ids: ['0'], count: 1 }, quiet);
    const unwanted = new AbortController();
    const waiting = leases.acquire('b', { ids: ['0'], count: 1 }, { ...quiet, signal: unwanted.signal });
    unwanted.abort();
    await expect(waiting).rejects.toThrow('stopped before it had its GPUs');
    leases.release('a');
    expect(await leases.acquire('c', { ids: ['0'], count: 1 }, quiet)).toEqual(['0']);
  });
});
