import { FEATURES } from '@sluice/client';
import { describe, expect } from 'vitest';
import { clause } from './clause-test.ts';
import type { Fields, Rig } from './conformance-rig.ts';

const KNOWN = new Set<string>(Object.values(FEATURES));

export function describeAccounts(rig: Rig): void {
  describe('accounts and instance types', () => {
    clause(
      [
        'Endpoints > GET /clusters/{cluster}/accounts',
        '1. List accounts > #1',
        'Account > clusterID',
        'Account > accountID',
        'What the service does > #5',
        'What the service does > #9',
        'Endpoints > #2',
      ],
      'accounts are listed with their cluster, for one cluster or for all',
      async () => {
        const list = async (cluster: string) => {
          const answer = await rig().call('GET', `clusters/${cluster}/accounts`);
          expect(answer.status).toBe(200);
          return answer.json().accounts as Fields[];
        };
        const north = { clusterID: 'north', accountID: 'lab' };
        const south = { clusterID: 'south', accountID: 'lab' };
        expect(await list('north')).toEqual([north]);
        const all = await list('-');
        expect(all).toHaveLength(2);
        expect(all).toEqual(expect.arrayContaining([north, south]));
      },
    );

    clause(
      [
        'Endpoints > GET /clusters/{cluster}/instanceTypes',
        '2. List instance types > #1',
        'InstanceType > id',
        'InstanceType > clusterID',
        'InstanceType > cpu.cores',
        'InstanceType > cpu.model',
        'InstanceType > memory.sizeGB',
        'InstanceType > gpu.count',
        'InstanceType > gpu.model',
      ],
      'instance types are listed with their size, for one cluster or for all',
      async () => {
        const list = async (cluster: string) => {
          const answer = await rig().call('GET', `clusters/${cluster}/instanceTypes`);
          expect(answer.status).toBe(200);
          return answer.json().instanceTypes as Fields[];
        };
        const type = (id: string, clusterID: string) => ({
          ...{ id, clusterID },
          cpu: { cores: 1, model: 'Test CPU' },
          memory: { sizeGB: 1 },
          gpu: { count: 0, model: '' },
          // Our extension; which ones there are depends on the engine and its machine (docs/protocol.md).
          features: expect.toSatisfy((features: string[]) => features.every((feature) => KNOWN.has(feature))),
        });
        expect(await list('south')).toEqual([type('s-small', 'south')]);
        const all = await list('-');
        expect(all).toHaveLength(2);
        expect(all).toEqual(expect.arrayContaining([type('n-small', 'north'), type('s-small', 'south')]));
      },
    );
  });
}
