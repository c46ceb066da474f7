import { afterAll, beforeAll, describe } from 'vitest';
import { describeCancelAndDelete } from './describe-cancel-and-delete.ts';
import { describeCreate } from './describe-create.ts';
import { describeDiscovery } from './describe-discovery.ts';
import { describeListing } from './describe-listing.ts';
import { describeLogs } from './describe-logs.ts';
import { describeMounts } from './describe-mounts.ts';
import { describePhases } from './describe-phases.ts';
import { describeRejections } from './describe-rejections.ts';
import { describeVolumes } from './describe-volumes.ts';
import type { ServiceUnderTest } from './service-under-test.ts';

/**
 * Registers the tests that every implementation of `ContainerService` must pass, ours over any way of reaching it
 * included: what the protocol says, and what design decided where it is silent. The service may already hold other
 * containers and volumes; those of the suite are left ended.
 */
export function describeContainerService(name: string, open: () => Promise<ServiceUnderTest>): void {
  describe(`${name}, as a container service`, () => {
    let sut: ServiceUnderTest | undefined;
    beforeAll(async () => {
      sut = await open();
    });
    afterAll(async () => {
      await sut?.close();
    });
    const underTest = () => {
      if (sut === undefined) throw new Error('The service under test did not open');
      return sut;
    };
    describeDiscovery(underTest);
    describeCreate(underTest);
    describePhases(underTest);
    describeLogs(underTest);
    describeCancelAndDelete(underTest);
    describeListing(underTest);
    describeVolumes(underTest);
    describeMounts(underTest);
    describeRejections(underTest);
  });
}
