import { hostname } from 'node:os';
import { hasPlan, type PoolClaim, readJournal, readLease, runDirectory } from '@sluice/home';
import type { JournalRecord } from '@sluice/run';
import type { Missing } from '../session/attempt.ts';
import type { RunSession } from '../session/run-session.ts';
import { askContainer } from '../watch/ask-container.ts';
import { addMissedCheck } from '../watch/lost-container.ts';

/** What the home of a run shows about the attempt that holds a claim. */
type Evidence = 'alive' | 'ended' | 'unknown' | 'lost';

/** After this long, a create request sent by a runner that is now dead has arrived or never will. */
const SETTLED_AFTER_MS = 10 * 60_000;

/**
 * Decides whether an attempt of another run no longer holds its slots although its runner did not release them. A
 * living runner is trusted; for a dead one, the journal decides, then the service. If neither is conclusive the claim
 * stays valid, since the run can be resumed. A run without a journal cannot be resumed: its claim stays valid as long
 * as a request of its last runner may still arrive.
 */
export function createAbandonment(session: RunSession): (claim: PoolClaim) => Promise<boolean> {
  const missing = new Map<string, Missing>();
  return async (claim) => {
    const evidence = await judgeRun(session, claim);
    if (evidence === 'alive' || evidence === 'ended') return evidence === 'ended';
    const seen = await session.calls.add(() => askContainer(session.service, claim));
    if (seen !== 'missing') {
      missing.delete(claim.containerID);
      return seen === 'ended';
    }
    const checks = addMissedCheck(missing.get(claim.containerID), { at: session.clock.now(), found: 'nothing' });
    missing.set(claim.containerID, checks);
    return evidence === 'lost' && checks.lasted >= SETTLED_AFTER_MS;
  };
}

async function judgeRun({ disk, home, runId }: RunSession, claim: PoolClaim): Promise<Evidence> {
  // A claim of this run itself, from before its journal was lost.
  if (claim.runId === runId) return 'lost';
  const directory = runDirectory(home, claim.runId);
  if ((await disk.ask(directory, '')) !== undefined) return 'alive';
  // The whole plan need not be read, which can be long: the journal alone decides.
  if (!(await hasPlan(disk, directory))) return 'lost';
  const journal = await readJournal(disk, directory);
  if (!journal.ok) return 'unknown';
  const { records } = journal.value;
  if (records.every(({ kind }) => kind !== 'run')) return 'lost';
  if (records.some((record) => isEnd(claim, record))) return 'ended';
  // An adoption does not know what was started before the journal was lost.
  if (records.some((record) => record.kind === 'adopted' || isIntent(claim, record))) return 'unknown';
  // The claim is written before the intent, and the intent is durable before the container: nothing was started. But a
  // runner on another host, whose liveness cannot be checked, may be between the two.
  return (await readLease(disk, directory))?.host === hostname() ? 'ended' : 'unknown';
}

function isIntent(claim: PoolClaim, record: JournalRecord): boolean {
  return record.kind === 'intent' && isOf(claim, record);
}

function isEnd(claim: PoolClaim, record: JournalRecord): boolean {
  if (record.kind === 'finished') return true;
  return record.kind === 'event' && record.event.type === 'ended' && isOf(claim, record.event);
}

function isOf(
  claim: PoolClaim,
  at: { readonly step: number; readonly cell: number; readonly attempt: number },
): boolean {
  return at.step === claim.step && at.cell === claim.cell && at.attempt === claim.attempt;
}
