import { isServiceError, type Scope } from '@sluice/client';
import type { Plan } from '@sluice/core';
import { describeLostJournal, enteringDirectory, readSummary } from '@sluice/home';
import type { RunError } from '@sluice/run';
import type { FilledOptions } from '../session/run-defaults.ts';
import type { ResumeRunOptions } from '../session/run-options.ts';
import { findRunContainers, type RunContainer } from '../watch/find-run-containers.ts';
import { judgeTerminalPhase } from '../watch/judge-terminal-phase.ts';
import { serviceRejection } from './service-rejection.ts';

/**
 * Why a run cannot be resumed whose journal does not contain its header. Such a run never began, or has lost its
 * journal: its summary and the service show which. The remains of a run that never began are removed; the caller holds
 * its directory.
 */
export async function rejectUnbegun(
  options: FilledOptions<ResumeRunOptions>,
  { directory, plan }: { readonly directory: string; readonly plan: Plan },
): Promise<RunError> {
  const { disk, runId } = options;
  const lost = describeLostJournal(runId);
  const summary = await readSummary(disk, directory);
  if (summary?.status !== undefined) {
    return { code: 'RUN_FINISHED', message: `${lost}, but the run has finished: ${summary.status}` };
  }
  let found: RunContainer[];
  try {
    found = await findEverywhere(options, plan);
  } catch (error) {
    if (!isServiceError(error)) throw error;
    return serviceRejection(error, `${lost}, and the service could not be asked for its containers`);
  }
  if (found.length > 0) return { code: 'JOURNAL_LOST', message: `${lost}, but ${describeFound(found)}` };
  if (summary) return { code: 'JOURNAL_LOST', message: `${lost}, and the service has no container of the run` };
  return removeUnbegun(options, directory);
}

/** Removes the remains of a run that started nothing; the caller holds its directory. */
export async function removeUnbegun(
  { disk, runId }: FilledOptions<ResumeRunOptions>,
  directory: string,
): Promise<RunError> {
  // It waits for its concurrency group, and has a place in the queue.
  if ((await disk.ask(enteringDirectory(directory), '')) !== undefined) {
    return { code: 'RUN_IN_USE', message: `could not resume run ${runId}: another process is starting it` };
  }
  await disk.remove(directory);
  return { code: 'RUN_NOT_FOUND', message: `run ${runId} was interrupted before it began; nothing was started` };
}

/** Searches every account of this login: it is unknown where the run was started. */
async function findEverywhere(
  { service, runId, clock }: FilledOptions<ResumeRunOptions>,
  plan: Plan,
): Promise<RunContainer[]> {
  const accounts = await service.discovery.listAccounts('-');
  const find = ({ clusterID, accountID }: Scope) =>
    findRunContainers(service, { scope: { clusterID, accountID }, runId, plan, clock });
  return (await Promise.all(accounts.map(find))).flat();
}

function describeFound(found: readonly RunContainer[]): string {
  const live = found.filter(({ container }) => !judgeTerminalPhase(container));
  const named = live.length > 0 ? live : found;
  const ids = named.slice(0, 3).map(({ container }) => container.id);
  const more = named.length > ids.length ? ` and ${named.length - ids.length} more` : '';
  const running = live.length > 0 ? `${live.length} of them not ended` : 'all of them ended';
  return `the service has ${found.length} of its containers, ${running} (${ids.join(', ')}${more})`;
}
