import { hostname } from 'node:os';
import { isOnServer, readRunProcess, runCustody } from '@sluice/home';
import type { Executor, RunSummary } from '@sluice/run';
import { type AskHostOptions, askHost } from './ask-host.ts';
import type { HostStatus } from './host-request.ts';

/**
 * Which process has each of the runs. Asks the home's host once, and only if a process has one of them. `hostKind` is what
 * the host is called; by default, it is the kind that the host itself reports.
 */
export async function readExecutors(
  home: string,
  runs: readonly Pick<RunSummary, 'runId' | 'status'>[],
  { hostKind, onWait }: { readonly hostKind?: Executor | undefined } & Pick<AskHostOptions, 'onWait'> = {},
): Promise<Executor[]> {
  const isActive = runs.some(({ status }) => status === 'running' || status === 'waiting');
  const reply = isActive ? await askHost(home, { verb: 'status' }, { ...(onWait && { onWait }) }) : undefined;
  const host = reply !== undefined && 'status' in reply ? reply.status : undefined;
  const kind = hostKind ?? (host?.isBackground === true ? 'host' : 'ui');
  return Promise.all(runs.map((run) => readExecutor(home, run, host && { ...host, kind })));
}

async function readExecutor(
  home: string,
  { runId, status }: Pick<RunSummary, 'runId' | 'status'>,
  host: (HostStatus & { readonly kind: Executor }) | undefined,
): Promise<Executor> {
  if (status !== 'running' && status !== 'waiting') return 'none';
  if (await isOnServer(runCustody(home, runId))) return 'server';
  if (host === undefined) return 'terminal';
  const isHosted =
    status === 'running' ? await isRunBy(host, { home, runId }) : host.runs.some((run) => run.runId === runId);
  return isHosted ? host.kind : 'terminal';
}

/** By the process that has opened the journal: `sluice ui` also executes runs of schedules, which are not marked. */
async function isRunBy({ pid }: HostStatus, { home, runId }: { home: string; runId: string }): Promise<boolean> {
  const process = await readRunProcess(home, runId);
  return process?.pid === pid && process.host === hostname();
}
