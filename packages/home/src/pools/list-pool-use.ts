import type { Disk } from '../journal/disk.ts';
import { createSystemDisk } from '../journal/system-disk.ts';
import { readClaims } from './claims-list.ts';

/** The slots of a pool that attempts of all runs hold, and those that attempts wait for. */
export interface PoolUse {
  readonly used: number;
  readonly waiting: number;
}

/** The use of a home's pools, by name; pools that nothing uses are absent. Their sizes are in the plans of the runs. */
export async function listPoolUse(
  home: string,
  disk: Disk = createSystemDisk(),
): Promise<ReadonlyMap<string, PoolUse>> {
  const { claims, waiting } = await readClaims({ disk, home });
  const uses = new Map<string, { used: number; waiting: number }>();
  const add = (key: 'used' | 'waiting', slots: Readonly<Record<string, number>>) => {
    for (const [pool, count] of Object.entries(slots)) {
      const use = uses.get(pool) ?? { used: 0, waiting: 0 };
      use[key] += count;
      uses.set(pool, use);
    }
  };
  for (const { slots } of claims) add('used', slots);
  for (const { slots } of waiting) add('waiting', slots);
  return uses;
}
