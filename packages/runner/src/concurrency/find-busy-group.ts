import type { Plan } from '@sluice/core';
import { type Clock, createSystemClock, createSystemDisk, type Disk, readGroup, resolveGroup } from '@sluice/home';
import type { RunError } from '@sluice/run';
import { judgeMember, type MemberSource } from './judge-member.ts';

/**
 * The rejection for a run that must not wait for its concurrency group, if the group is full now. The run enters the group
 * only when it is executed, and waits if another has entered meanwhile.
 */
export async function findBusyGroup(
  given: Omit<MemberSource, 'disk' | 'clock'> & {
    readonly disk?: Disk;
    readonly clock?: Clock;
    readonly plan: Plan;
    readonly runId: string;
  },
  plannedTime: number,
): Promise<RunError | undefined> {
  const { plan, runId } = given;
  const source = { ...given, disk: given.disk ?? createSystemDisk(), clock: given.clock ?? createSystemClock() };
  const { concurrency } = plan.pipeline;
  const group = resolveGroup(plan, { runId, plannedTime });
  if (!group.ok) return group.error;
  if (group.value === undefined || concurrency?.overlap !== 'fail') return undefined;
  const members: string[] = [];
  for (const entry of await readGroup(source, group.value)) {
    if (entry.state !== 'in') continue;
    const membership = await judgeMember(source, entry);
    if (membership === 'executing' || membership === 'left') members.push(entry.runId);
  }
  if (members.length < concurrency.limit) return undefined;
  const message = `the concurrency group ${group.value} is taken by run ${members.join(', ')}`;
  return { code: 'GROUP_BUSY', message };
}
