import path from 'node:path';
import { fail, ok, type Result } from '@sluice/core';
import type { JournalRecord } from '@sluice/run';
import type { Clock } from '../clock.ts';
import type { Claim, ControlListener, Disk } from './disk.ts';
import { createJournal, type Journal } from './journal.ts';
import { acquireLease, findLeaseLoss, type Lease, OTHER_LEASE, readLease } from './lease.ts';
import { findFormatFault, type JournalContent, parseJournal } from './parse-journal.ts';
import { resumeClock } from './resume-clock.ts';
import { type RunMarks, readRunMarks } from './run-marks.ts';

/** A run's journal, open for writing by this process alone. */
export interface OpenJournal {
  readonly journal: Journal;
  /** Its content when it was opened. */
  readonly records: readonly JournalRecord[];
  readonly lease: Lease;
  /** The record that begins what this process writes. */
  readonly opening: JournalRecord & { readonly kind: 'opened' };
  /** The time of the run, which continues from the last record. */
  readonly clock: Clock;
  /** Why this process must leave the run: another one has opened it, or it was removed. Each commit checks this itself. */
  readonly findLoss: () => string | undefined;
  /** Whether the run was received from a client: no path in its plan or its header is one of this machine. */
  readonly isReceived: boolean;
  /** Closes the journal and releases the run to other runners. */
  release(): Promise<void>;
}

/** Why a journal could not be opened. */
export interface JournalError {
  readonly code: 'RUN_IN_USE' | 'RUN_HOSTED' | 'RUN_NOT_FOUND' | 'JOURNAL_DAMAGED';
  readonly message: string;
}

/** What is known of a journal before it is opened. */
export type FoundJournal = Pick<OpenJournal, 'records' | 'clock' | 'isReceived'>;

/** The shell's own dependencies, and what differs for a run that is adopted. */
export interface OpenJournalOptions<R> {
  readonly disk: Disk;
  readonly clock: Clock;
  /** Answers other processes while the journal is open; only lines with the lease's secret reach it. */
  readonly control?: ControlListener;
  /**
   * The caller opens no path and no address of the run that may be one of this machine. Without it, a run that was received
   * from a client is rejected.
   */
  readonly isConfined?: boolean;
  /**
   * Replace a lost journal: a damaged one is renamed, and the new epoch is higher than `afterEpoch`. `beforeLease` is called
   * with the directory locked, and not if the run is rejected.
   */
  readonly lost?: { readonly afterEpoch: number; readonly beforeLease: () => Promise<void> };
  /**
   * Why the caller rejects the journal, which then stays as it is; undefined if it can use it. Called while the run is claimed
   * and nothing is changed yet, and again if the journal has changed since.
   */
  readonly reject: (found: FoundJournal) => R | undefined | Promise<R | undefined>;
}

const NOTHING: JournalContent = { records: [], seq: 0, epoch: 0, size: 0 };

const UNCONFINED = {
  code: 'RUN_HOSTED',
  message: 'could not execute the run here: a client has handed it over, and its paths are not of this machine',
} as const;

/**
 * The only way to execute or change a run that is recorded: checks all of its marks (`readRunMarks`). Locks a run's
 * directory, reads its journal, acquires the lease, and cuts off incomplete lines of a crash. A run that is rejected is
 * unchanged.
 */
export async function openJournal<R extends { readonly code: string; readonly message: string }>(
  directory: string,
  options: OpenJournalOptions<R>,
): Promise<Result<OpenJournal, JournalError | R>> {
  const { disk, clock } = options;
  let lease: Lease | undefined;
  const claim = await disk.claim(directory, (line, how) => {
    const [secret, ...rest] = line.split(' ');
    return lease && secret === lease.control ? (options.control?.(rest.join(' '), how) ?? '') : OTHER_LEASE;
  });
  if (!claim) return fail({ code: 'RUN_IN_USE', message: describeHolder(await readLease(disk, directory)) });
  try {
    // After the claim: the mark is written before the process that holds the claim is asked to leave the run.
    const { isReceived, rejection } = await readRejection(directory, options);
    if (rejection !== undefined) {
      await claim.release();
      return fail(rejection);
    }
    // Its secret is known to those who send a request now: they receive the answer of this process.
    lease = await readLease(disk, directory);
    let found = await readAccepted(directory, { ...options, isReceived });
    if (found.ok) {
      await options.lost?.beforeLease();
      lease = await acquireLease(disk, directory, { at: clock.wall(), epoch: options.lost?.afterEpoch ?? 0 });
      // An older runner can commit nothing after that, but may have done so before.
      const isUnchanged = Buffer.compare(found.value.bytes, await readBytes(disk, directory)) === 0;
      if (!isUnchanged) found = await readAccepted(directory, { ...options, isReceived });
    }
    if (!found.ok) {
      await claim.release();
      return found;
    }
    const { size, seq, epoch, records, bytes, clock: runClock } = found.value;
    if (!lease || epoch >= lease.epoch) lease = await acquireLease(disk, directory, { at: clock.wall(), epoch });
    const held = lease;
    const file = journalPath(directory);
    if (size < bytes.length) {
      const kept = found.value.isDamaged ? 'damaged' : 'torn';
      await disk.replace(path.join(directory, `journal.${kept}-${held.epoch}`), bytes.subarray(size));
    }
    // Rewritten: bytes that an earlier runner wrote without a sync can be read now and still be lost in a power failure.
    if (size > 0 || found.value.isDamaged) await disk.replace(file, bytes.subarray(0, size));
    const findLoss = () => findLeaseLoss(disk, directory, held);
    const journal = createJournal(await disk.append(file, size), { seq, epoch: held.epoch, findLoss });
    const opening = describeOpening(held, runClock);
    journal.append(opening);
    const release = () => closeJournal(journal, claim);
    return ok({ journal, records, lease: held, opening, clock: runClock, findLoss, isReceived, release });
  } catch (error) {
    await claim.release();
    throw error;
  }
}

async function readRejection(directory: string, { disk, isConfined }: OpenJournalOptions<unknown>): Promise<RunMarks> {
  const marks = await readRunMarks(disk, directory);
  return marks.rejection === undefined && marks.isReceived && !isConfined ? { ...marks, rejection: UNCONFINED } : marks;
}

interface AcceptedJournal extends JournalContent, FoundJournal {
  readonly bytes: Uint8Array;
  /** Only of a lost journal: none of its bytes can be used. */
  readonly isDamaged: boolean;
}

/** Reads the journal and lets the caller decide whether it can use it; changes nothing. */
async function readAccepted<R>(
  directory: string,
  { disk, clock, lost, reject, isReceived }: OpenJournalOptions<R> & { readonly isReceived: boolean },
): Promise<Result<AcceptedJournal, JournalError | R>> {
  const bytes = await readBytes(disk, directory);
  const parsed = parseJournal(bytes);
  // A journal of another version is not lost, even if it is damaged.
  const format = parsed.ok ? undefined : findFormatFault(bytes);
  if (!parsed.ok && (!lost || format !== undefined)) {
    const message = `could not open ${journalPath(directory)}: ${format ?? parsed.error}`;
    return fail({ code: 'JOURNAL_DAMAGED', message });
  }
  const content = parsed.ok ? parsed.value : NOTHING;
  const found = { ...content, clock: resumeClock(clock, content.records), isReceived };
  const rejection = await reject(found);
  return rejection === undefined ? ok({ ...found, bytes, isDamaged: !parsed.ok }) : fail(rejection);
}

async function readBytes(disk: Disk, directory: string): Promise<Uint8Array> {
  return (await disk.read(journalPath(directory))) ?? new Uint8Array();
}

function describeOpening({ epoch, host, pid }: Lease, clock: Clock): OpenJournal['opening'] {
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
