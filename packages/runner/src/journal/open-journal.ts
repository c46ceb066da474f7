import path from 'node:path';
import { fail, ok, type Result } from '@sluice/core';
import type { Clock } from '../clock.ts';
import type { Claim, ControlListener, Disk } from './disk.ts';
import { createJournal, type Journal } from './journal.ts';
import type { JournalRecord } from './journal-record.ts';
import { holdsLease, type Lease, readLease, takeLease } from './lease.ts';
import { parseJournal } from './parse-journal.ts';
import { resumeClock } from './resume-clock.ts';

/** A run's journal, open for writing by this process alone. */
export interface OpenJournal {
  readonly journal: Journal;
  /** What it held when it was opened. */
  readonly records: readonly JournalRecord[];
  readonly lease: Lease;
  /** The time of the run: goes on from what the journal holds. */
  readonly clock: Clock;
  /** Whether nobody has opened the journal since; each commit asks by itself. */
  readonly isNewest: () => boolean;
  /** Closes the journal and lets another runner have the run. */
  release(): Promise<void>;
}

export interface JournalRefusal {
  readonly code: 'RUN_IN_USE' | 'JOURNAL_DAMAGED';
  readonly message: string;
}

export interface OpenJournalOptions {
  readonly disk: Disk;
  readonly clock: Clock;
  /** Answers other processes while the journal is open; only lines with the lease's secret reach it. */
  readonly control?: ControlListener;
  /** The journal is lost: a damaged one is kept aside, and this opening is newer than the epoch given. */
  readonly lost?: { readonly afterEpoch: number };
}

/** Locks a run's directory, reads its journal, cuts off what a crash tore, and becomes its newest writer. */
export async function openJournal(
  directory: string,
  options: OpenJournalOptions,
): Promise<Result<OpenJournal, JournalRefusal>> {
  const { disk, clock } = options;
  let lease: Lease | undefined;
  const claim = await disk.claim(directory, (line) => {
    const [secret, ...rest] = line.split(' ');
    return lease && secret === lease.control ? (options.control?.(rest.join(' ')) ?? '') : 'refused';
  });
  if (!claim) return fail({ code: 'RUN_IN_USE', message: describeHolder(await readLease(disk, directory)) });
  try {
    // First the lease, then the reading: what an older runner commits after that is refused.
    lease = await takeLease(disk, directory, { at: clock.wall(), epoch: options.lost?.afterEpoch ?? 0 });
    const file = journalPath(directory);
    let bytes = (await disk.read(file)) ?? new Uint8Array();
    let content = parseJournal(bytes);
    if (!content.ok && options.lost) {
      await disk.replace(path.join(directory, `journal.damaged-${lease.epoch}`), bytes);
      bytes = new Uint8Array();
      content = parseJournal(bytes);
      await disk.replace(file, bytes);
    }
    if (!content.ok) {
      await claim.release();
      return fail({ code: 'JOURNAL_DAMAGED', message: `could not open ${file}: ${content.error}` });
    }
    const { size, seq, epoch, records } = content.value;
    if (epoch >= lease.epoch) lease = await takeLease(disk, directory, { at: clock.wall(), epoch });
    const held = lease;
    if (size < bytes.length) {
      await disk.replace(path.join(directory, `journal.torn-${held.epoch}`), bytes.subarray(size));
    }
    // Written anew: what an earlier runner wrote but could not sync can be read now and still be lost with the machine.
    if (size > 0) await disk.replace(file, bytes.subarray(0, size));
    const isNewest = () => holdsLease(disk, directory, held);
    const journal = createJournal(await disk.append(file, size), { seq, epoch: held.epoch, isNewest });
    const runClock = resumeClock(clock, records);
    journal.append(describeOpening(held, runClock));
    return ok({
      journal,
      records,
      lease: held,
      clock: runClock,
      isNewest,
      release: () => closeJournal(journal, claim),
    });
  } catch (error) {
    await claim.release();
    throw error;
  }
}

function describeOpening({ epoch, host, pid }: Lease, clock: Clock): JournalRecord {
  const boot = clock.boot();
  return { kind: 'opened', at: clock.now(), epoch, host, pid, ...(boot && { boot }) };
}

/** Where a run's journal lies. */
export function journalPath(directory: string): string {
  return path.join(directory, 'journal.ndjson');
}

async function closeJournal(journal: Journal, claim: Claim): Promise<void> {
  try {
    await journal.close();
  } finally {
    await claim.release();
  }
}

function describeHolder(lease: Lease | undefined): string {
  if (!lease) return 'could not lock the run: another process holds it';
  const since = new Date(lease.at).toISOString();
  return `could not lock the run: process ${lease.pid} on ${lease.host} has been running it since ${since}`;
}

/** Does what follows the opening; a failure there lets go of the run again, or nobody could take it up. */
export async function releaseOnFailure<T>(opened: OpenJournal, action: () => Promise<T>): Promise<T> {
  try {
    return await action();
  } catch (error) {
    await opened.release().catch(() => {});
    throw error;
  }
}
