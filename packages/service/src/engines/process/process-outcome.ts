import { stat } from 'node:fs/promises';
import { uptime } from 'node:os';
import { bootID } from '../../boot-id.ts';
import { EngineError, type Launch } from '../engine.ts';
import type { ExitRecord } from '../exit-record.ts';
import type { ProcessIdentity } from './process-identity.ts';
import { claimAbsent, readClaim, readExitRecord } from './process-records.ts';

/** What the records say of a container that another process may have started. */
export type RecordedOutcome =
  | { readonly type: 'ended'; readonly record: ExitRecord }
  /** It never started, and from now on only withdrawing that claim lets it start. */
  | { readonly type: 'absent' }
  /** This process was to run it, in this boot of the machine. Whether it is there is to be looked at. */
  | { readonly type: 'claimed'; readonly by: ProcessIdentity }
  | { readonly type: 'lost'; readonly reason: string };

/** This boot of the machine; `timeMs` is when it began by the wall clock, which may have been set since. */
export interface Boot {
  readonly id: string;
  readonly timeMs: number;
}

/** Throws where the kernel does not tell its boot. */
export function readBoot(): Boot {
  const id = bootID();
  if (id === undefined) throw new EngineError('UNAVAILABLE', 'could not read the boot ID of this machine');
  return { id, timeMs: Date.now() - uptime() * 1000 };
}

/** Throws where the records cannot be read. */
export async function readRecordedOutcome(
  { directory, bootID: keyBootID }: Pick<Launch, 'directory' | 'bootID'>,
  boot: Boot,
): Promise<RecordedOutcome> {
  for (;;) {
    const record = await readExitRecord(directory);
    if (record !== undefined) return { type: 'ended', record };
    const claim = await readClaim(directory);
    if (claim?.kind === 'absent') return { type: 'absent' };
    if (claim !== undefined) {
      if (claim.bootID === boot.id) return { type: 'claimed', by: claim };
      return { type: 'lost', reason: 'the machine was restarted while it ran' };
    }
    // Records are not forced to disk: across a crash of the machine a missing claim proves nothing.
    if (keyBootID !== boot.id && (await birthTime(directory)) < boot.timeMs) {
      return { type: 'lost', reason: 'the machine was restarted, and nothing is left to say whether it had started' };
    }
    if (await claimAbsent(directory)) return { type: 'absent' };
  }
}

async function birthTime(directory: string): Promise<number> {
  const { birthtimeMs, mtimeMs } = await stat(directory);
  return birthtimeMs > 0 ? birthtimeMs : mtimeMs;
}
