import path from 'node:path';
import { fail, ok, type Result } from '@sluice/core';
import type { Clock } from '../clock.ts';
import type { Claim, ControlListener, Disk } from './disk.ts';
import { createJournal, type Journal } from './journal.ts';
import type { JournalRecord } from './journal-record.ts';
import { acquireLease, holdsLease, type Lease, readLease } from './lease.ts';
import { parseJournal } from './parse-journal.ts';
import { resumeClock } from './resume-clock.ts';
import { describeServer, readServerMark } from './server-mark.ts';

/** A run's journal, open for writing by this process alone. */
export interface OpenJournal {
  readonly journal: Journal;
  /** Its content when it was opened. */
  readonly records: readonly JournalRecord[];
  readonly lease: Lease;
  /** The time of the run, which continues from the last record. */
  readonly clock: Clock;
  /** Whether no other process has opened the journal in the meantime. Each commit checks this itself. */
  readonly isNewest: () => boolean;
  /** Closes the journal and releases the run to other runners. */
  release(): Promise<void>;
}

/** Why a journal could not be opened. */
export interface JournalRefusal {
  readonly code: 'RUN_IN_USE' | 'RUN_HOSTED' | 'JOURNAL_DAMAGED';
  readonly message: string;
}

/** The shell's own dependencies, and what differs for a run that is adopted. */
export interface OpenJournalOptions {
  readonly disk: Disk;
  readonly clock: Clock;
  /** Answers other processes while the journal is open; only lines with the lease's secret reach it. */
  readonly control?: ControlListener;
  /** Replace a lost journal: a damaged one is renamed, and the new epoch is higher than `afterEpoch`. */
  readonly lost?: { readonly afterEpoch: number };
}

/** Locks a run's directory, reads its journal, cuts off incomplete lines of a crash, and acquires the lease. */
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
    // After the claim: the mark is written before the process that holds the claim is asked to leave the run.
    const server = describeServer(await readServerMark(directory, disk));
    if (server !== undefined) {
      await claim.release();
      return fail({ code: 'RUN_HOSTED', message: `could not execute the run here: ${server}` });
    }
    // The lease is acquired before the file is read: an older runner cannot commit anything after that.
    lease = await acquireLease(disk, directory, { at: clock.wall(), epoch: options.lost?.afterEpoch ?? 0 });
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
    if (epoch >= lease.epoch) lease = await acquireLease(disk, directory, { at: clock.wall(), epoch });
    const held = lease;
    if (size < bytes.length) {
      await disk.replace(path.join(directory, `journal.torn-${held.epoch}`), bytes.subarray(size));
    }
    // Rewritten: bytes that an earlier runner wrote without a sync can be read now and still be lost in a power failure.
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

/** The path of a run's journal. */
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

/** Runs `action`. If it throws, the journal is released, so that the run can be resumed. */
export async function releaseOnFailure<T>(opened: OpenJournal, action: () => Promise<T>): Promise<T> {
  try {
    return await action();
  } catch (error) {
    await opened.release().catch(() => {});
    throw error;
  }
}
