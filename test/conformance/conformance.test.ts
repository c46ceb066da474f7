import { afterAll, beforeAll, describe } from 'vitest';
import { clauseCoverage } from './clause-test.ts';
import { type ConformanceRig, openConformanceRig } from './conformance-rig.ts';
import { describeAccounts } from './describe-accounts.ts';
import { describeAuthentication } from './describe-authentication.ts';
import { describeContainerFields } from './describe-container-fields.ts';
import { describeContainerPhases } from './describe-container-phases.ts';
import { describeListsAndLogs } from './describe-lists-and-logs.ts';
import { describeMounts } from './describe-mounts.ts';
import { describeObservedRequests } from './describe-observed-requests.ts';
import { describeOpenPoints } from './describe-open-points.ts';
import { describePorts } from './describe-ports.ts';
import { describeRetention } from './describe-retention.ts';
import { describeVolumes } from './describe-volumes.ts';

/** Walks the protocol document with raw requests against the real service; retention, which moves time, is last. */
describe('the service by the protocol', () => {
  let opened: ConformanceRig | undefined;
  beforeAll(async () => {
    opened = await openConformanceRig();
  });
  afterAll(async () => {
    await opened?.close();
  });
  const rig = () => {
    if (opened === undefined) throw new Error('The service did not open');
    return opened;
  };
  describeAuthentication(rig);
  describeAccounts(rig);
  describeVolumes(rig);
  describeContainerFields(rig);
  describeContainerPhases(rig);
  describePorts(rig);
  describeMounts(rig);
  describeListsAndLogs(rig);
  describeObservedRequests(rig);
  describeOpenPoints(rig);
  describeRetention(rig);
  clauseCoverage();
});
