import { createSystemDisk, listOpenApprovals, type RunFollower, replayFromHome } from '@sluice/home';
import { approvalValue } from '@sluice/run';
import type { z } from 'zod';
import type { approvalList } from '../schemas/run-replies.ts';
import type { RunList } from './run-list.ts';

/** The approvals of a run that wait for an answer. */
export async function describeApprovals(
  { home, list }: { readonly home: string; readonly list: Pick<RunList, 'read'> },
  { runId, directory, model: { facts, scheduler } }: RunFollower,
): Promise<z.input<typeof approvalList>> {
  const approvals = await listOpenApprovals(
    { runId, directory, facts, scheduler },
    { runs: await list.read(), read: (earlier) => replayFromHome(createSystemDisk(), home, earlier) },
  );
  return { approvals: approvals.map(approvalValue) };
}
