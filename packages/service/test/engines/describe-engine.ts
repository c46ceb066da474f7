import { afterAll, afterEach, beforeAll, describe } from 'vitest';
import { describeIdentity } from './describe-identity.ts';
import { describeLimits } from './describe-limits.ts';
import { describeLogLimit } from './describe-log-limit.ts';
import { describeMounts } from './describe-mounts.ts';
import { describeReadOnly } from './describe-read-only.ts';
import { describeRecovery } from './describe-recovery.ts';
import { describeRun } from './describe-run.ts';
import { describeStop } from './describe-stop.ts';
import { describeTasks } from './describe-tasks.ts';
import { EngineRig } from './engine-rig.ts';
import type { CreateEngine, EngineUnderTest } from './engine-under-test.ts';

/** The contract of `Engine`: every engine passes it on the real thing, with images that hold no more than `sh` and coreutils. */
export function describeEngine(name: string, create: CreateEngine, subject: EngineUnderTest): void {
  describe(`Engine ${name}`, () => {
    const rig = new EngineRig(create, subject);
    beforeAll(() => rig.open());
    afterEach(() => rig.clear());
    afterAll(() => rig.close());

    describeRun(rig, subject);
    describeIdentity(rig, subject);
    describeLogLimit(rig);
    describeMounts(rig, subject);
    if (!subject.sharesMachine) describeReadOnly(rig);
    describeStop(rig);
    if (subject.startsTasks) describeTasks(rig, subject);
    describeLimits(rig, subject);
    describeRecovery(rig, subject);
  });
}
