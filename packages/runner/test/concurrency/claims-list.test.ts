import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import {
  type ClaimsList,
  changeClaims,
  claimsDirectory,
  createSystemClock,
  createSystemDisk,
  type Disk,
  findShortage,
  type PoolClaim,
  readClaims,
} from '@sluice/home';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createMemoryDisk } from '../../../home/test/memory-disk.ts';
import { createVirtualClock } from '../simulation/virtual-clock.ts';

const claimOf = (runId: string, slots: PoolClaim['slots']): PoolClaim => ({
  runId,
  epoch: 1,
  step: 0,
  cell: 0,
  attempt: 1,
  stepName: 'fit',
  cellKey: '',
  clusterID: 'sim',
  accountID: 'me',
  containerID: `s${runId}-x-1`,
  slots,
});

const waiterOf = (runId: string, slots: PoolClaim['slots'], askedAt = 0) => {
  const { step, cell, attempt } = claimOf(runId, slots);
  return { runId, step, cell, attempt, slots, askedAt };
};

let home: string;

beforeEach(async () => {
  home = await mkdtemp(path.join(tmpdir(), 'sluice-pools-'));
});

afterEach(() => rm(home, { recursive: true, force: true }));

/** The machine's files as seen by two hosts whose locks have no effect. */
const withoutLocks = (): Disk => ({ ...createSystemDisk(), claim: async () => ({ release: async () => {} }) });

describe('changeClaims', () => {
  test('loses no change of hosts without effective locks, and grants the last slot once', async () => {
    const hosts = Array.from({ length: 12 }, (_, host) => `run${host}`);
    const taken = await Promise.all(
      hosts.map((runId) =>
        changeClaims({ disk: withoutLocks(), clock: createSystemClock(), home }, (list) => {
          const shortage = findShortage(list, waiterOf(runId, { gpu: 1 }), { gpu: 3 });
          const claims = shortage ? list.claims : [...list.claims, claimOf(runId, { gpu: 1 })];
          return { list: shortage ? list : { ...list, claims }, answer: shortage === undefined };
        }),
      ),
    );
    const { claims } = await readClaims({ disk: withoutLocks(), home });
    expect(claims).toHaveLength(3);
    expect(claims.map(({ runId }) => runId).sort()).toEqual(hosts.filter((_, host) => taken[host]).sort());
  });

  test('is heard of by who watches the directory', async () => {
    const place = { disk: createSystemDisk(), clock: createSystemClock(), home };
    const change = (at: number) =>
      changeClaims(place, (list) => ({ list: { ...list, waiting: [waiterOf('a', { gpu: 1 }, at)] }, answer: at }));
    await change(1);
    const heard = new Promise<void>((resolve) => {
      const stop = place.disk.watch(claimsDirectory(home), () => {
        stop();
        resolve();
      });
    });
    await change(2);
    await heard;
  });

  test('keeps a few versions only', async () => {
    const disk = createMemoryDisk();
    const place = { disk, clock: createVirtualClock(), home: '/home' };
    for (let n = 0; n < 100; n++) {
      await changeClaims(place, (list) => ({ list: { ...list, waiting: [waiterOf('a', { gpu: 1 }, n)] }, answer: n }));
    }
    expect((await disk.list('/home/pools')).length).toBeLessThan(20);
    expect((await readClaims(place)).waiting).toMatchObject([{ askedAt: 99 }]);
  });
});

describe('findShortage', () => {
  const list: ClaimsList = {
    claims: [claimOf('holder', { gpu: 1 })],
    waiting: [waiterOf('large', { gpu: 2 }), waiterOf('small', { gpu: 1 })],
  };
  const sizes = { gpu: 2, cpu: 8 };

  test('serves those first who have waited longer, and nobody waits for those behind him', () => {
    expect(findShortage(list, waiterOf('small', { gpu: 1 }), sizes)).toMatchObject({ before: [{ runId: 'large' }] });
    expect(findShortage({ ...list, claims: [] }, waiterOf('large', { gpu: 2 }), sizes)).toBeUndefined();
    expect(findShortage(list, waiterOf('other', { cpu: 1 }), sizes)).toBeUndefined();
  });

  test('forgets who has not asked for a minute, also where clocks differ', () => {
    expect(findShortage(list, waiterOf('small', { gpu: 1 }, 60_000), sizes)).toBeUndefined();
    expect(findShortage(list, waiterOf('small', { gpu: 1 }, -60_000), sizes)).toBeUndefined();
  });
});
