import { isServiceError } from '@sluice/client';
import { carriesLabels } from '../identity/labels.ts';
import { readJournal } from '../journal/read-journal.ts';
import { readPlan, runDirectory } from '../run/run-home.ts';
import type { RunSession } from '../run/run-session.ts';
import { judgeTerminalPhase } from '../submission/judge-terminal-phase.ts';
import type { Claim } from './claims-file.ts';

/**
 * Whether an attempt of another run holds its tokens no more, although its runner did not give them back. A living
 * runner is believed; of a dead one, the journal and then the service are asked. What neither can tell is held.
 */
export async function isAbandoned(session: RunSession, claim: Claim): Promise<boolean> {
  const { disk, home } = session;
  const directory = runDirectory(home, claim.runId);
  if ((await disk.ask(directory, '')) !== undefined) return false;
  const plan = await readPlan(disk, directory);
  if (plan) {
    const content = await readJournal(disk, directory);
    if (!content.ok) return false;
    // A journal that was lost, or given back by an adoption, does not know what was started before.
    let submitted = content.value.records.every(({ kind }) => kind !== 'run');
    for (const record of content.value.records) {
      if (record.kind === 'finished') return true;
      if (record.kind === 'adopted' || (record.kind === 'intent' && isOf(claim, record))) submitted = true;
      if (record.kind === 'event' && record.event.type === 'ended' && isOf(claim, record.event)) return true;
    }
    // The claim is taken before the intent, and the intent is durable before the container: nothing was started.
    if (!submitted) return true;
  }
  return hasEnded(session, claim);
}

function isOf(claim: Claim, at: { readonly step: number; readonly cell: number; readonly attempt: number }): boolean {
  return at.step === claim.step && at.cell === claim.cell && at.attempt === claim.attempt;
}

/** The service says that the container has ended. An absent one proves nothing: its create may be on the way. */
async function hasEnded(session: RunSession, claim: Claim): Promise<boolean> {
  const { clusterID, accountID, containerID: id } = claim;
  try {
    const seen = await session.calls.add(() => session.service.containers.get({ clusterID, accountID, id }));
    const isTheirs = carriesLabels(seen, { ...claim, step: claim.stepName, cell: claim.cellKey });
    return isTheirs && judgeTerminalPhase(seen) !== undefined;
  } catch (error) {
    if (!isServiceError(error)) throw error;
    return false;
  }
}
