import { isHosted } from '@sluice/home';
import { askHost } from '@sluice/host';
import type { RunToHand } from '../runs/handed-run.ts';
import { handToHost } from './hand-to-host.ts';
import { createHostWaitReporter } from './report-host-wait.ts';

/**
 * Whether a host has the run and will execute it, for example when its concurrency group has capacity. While one host leaves
 * its runs, the next one, which is started if necessary, is given the run.
 */
export async function isExecutedSoon(home: string, given: Omit<RunToHand, 'home'>): Promise<boolean> {
  const onWait = createHostWaitReporter(given.context.terminal, home);
  const reply = await askHost(home, { verb: 'status' }, { onWait });
  if (reply === undefined && isHosted(home, given.runId)) return (await handToHost(home, given)).ok;
  return reply !== undefined && 'status' in reply && reply.status.runs.some((run) => run.runId === given.runId);
}
