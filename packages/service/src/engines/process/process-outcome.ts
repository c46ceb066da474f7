import { stat } from 'node:fs/promises';
import { uptime } from 'node:os';
import { bootId } from '../../boot-id.ts';
import { EngineError, type Launch } from '../engine.ts';
import type { ExitRecord } from '../exit-record.ts';
import type { ProcessIdentity } from './process-identity.ts';
import { claimAbsent, readClaim, readExitRecord } from './process-records.ts';

/** What the records say about a container that another process may have started. */
export type RecordedOutcome =
  | { readonly type: 'ended'; readonly record: ExitRecord }
  /** It never started, and cannot start until the claim is withdrawn. */
  | { readonly type: 'absent' }
  /** This process claimed it in this boot of the machine. Whether the process is alive must be checked. */
  | { readonly type: 'claimed'; readonly by: ProcessIdentity }
  | { readonly type: 'lost'; readonly reason: string };

/** The current boot of the machine; `timeMs` is its start by the wall clock, which may have been changed since. */
export interface Boot {
  readonly id: string;
  readonly timeMs: number;
}

/** Throws `EngineError` `UNAVAILABLE` if the kernel provides no boot ID. */
export function readBoot(): Boot {
  const id = bootId();
  if (id === undefined) throw new EngineError('UNAVAILABLE', 'could not read the boot ID of this machine');
  return { id, timeMs: Date.now() - uptime() * 1000 };
}

/** Decides from the records. If there is no claim, claims the container as absent. Throws if the records cannot be read. */
export async function readRecordedOutcome(
  { directory, bootId: keyBootId }: Pick<Launch, 'directory' | 'bootId'>,
  boot: Boot,
): Promise<RecordedOutcome> {
  for (;;) {
    const record = await readExitRecord(directory);
    if (record !== undefined) return { type: 'ended', record };
    const claim = await readClaim(directory);
    if (claim?.kind === 'absent') return { type: 'absent' };
    if (claim !== undefined) {
      if (claim.bootId === boot.id) return { type: 'claimed', by: claim };
      return { type: 'lost', reason: 'the machine was restarted while it ran' };
    }
    // Records are written without fsync: after a crash of the machine a missing claim proves nothing.
    if (keyBootId !== boot.id && (await birthTime(directory)) < boot.timeMs) {
      return { type: 'lost', reason: 'the machine was restarted, and nothing is left to say whether it had started' };
    }
    if (await claimAbsent(directory)) return { type: 'absent' };
  }
}

async function birthTime(directory: string): Promise<number> {
  const { birthtimeMs, mtimeMs } = await stat(directory);
  return birthtimeMs > 0 ? birthtimeMs : mtimeMs;
}
