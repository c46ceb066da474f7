import { describe, expect, it } from 'vitest';
import type { UnderTest } from './service-under-test.ts';

/** Endpoints 1 and 2. */
export function describeDiscovery(open: UnderTest): void {
  describe('discovery', () => {
    it('listAccounts: names the account in its cluster and among all clusters', async () => {
      const { service, scope } = open();
      for (const cluster of [scope.clusterID, '-']) {
        const accounts = await service.discovery.listAccounts(cluster);
        expect(accounts).toContainEqual({ clusterID: scope.clusterID, accountID: scope.accountID });
      }
    });

    it('listAccounts: names only accounts of the cluster that is asked for', async () => {
      const { service, scope } = open();
      const clusters = (await service.discovery.listAccounts(scope.clusterID)).map((it) => it.clusterID);
      expect(new Set(clusters)).toEqual(new Set([scope.clusterID]));
    });

    it('listInstanceTypes: gives the cores and memory of every type', async () => {
      const { service, scope, instanceType } = open();
      for (const cluster of [scope.clusterID, '-']) {
        const types = await service.discovery.listInstanceTypes(cluster);
        const ours = types.find((it) => it.id === instanceType && it.clusterID === scope.clusterID);
        expect(ours?.cpu.cores).toBeGreaterThan(0);
        expect(ours?.memory.sizeGB).toBeGreaterThan(0);
        expect(types.every((it) => Number.isInteger(it.cpu.cores) && Number.isInteger(it.memory.sizeGB))).toBe(true);
      }
    });
  });
}
