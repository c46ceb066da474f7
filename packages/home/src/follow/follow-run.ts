import path from 'node:path';
import { fail, ok, type Result } from '@sluice/core';
import type { FollowedModel, JournalLine, RunError, RunPhase, ViewedRun } from '@sluice/run';
import { type Clock, createSystemClock } from '../clock.ts';
import { askPhase } from '../journal/ask-phase.ts';
import type { Disk } from '../journal/disk.ts';
import { decodeLine } from '../journal/line-codec.ts';
import { journalPath } from '../journal/open-journal.ts';
import { createSystemDisk } from '../journal/system-disk.ts';
import { describeLostJournal } from '../runs/read-run.ts';
import { readPlan, rejectUnreadablePlan, runDirectory } from '../runs/run-home.ts';
import { followJournal, type JournalFollower } from './follow-journal.ts';
import { watchDirectory } from './watch-directory.ts';

/** A run that is read while any process executes it, or none. */
export interface RunFollower extends ViewedRun {
  /** The lines of the journal that tell the story of a cell, oldest first, without those that cannot be read any more. */
  readLines(step: number, cell: number): Promise<JournalLine[]>;
  /** Brings model and phase up to date. If the error says that the run cannot be read, the last model stays. */
  refresh(): Promise<Result<void, RunError>>;
  /**
   * Calls `listener` after each change of model or phase, soon after it was written, until the returned function is called.
   * Without listeners, only `refresh` reads.
   */
  subscribe(listener: (problem?: RunError) => void): () => void;
}

/** The run to follow. `disk` and `clock` default to those of the machine. */
export interface FollowRunOptions {
  readonly home: string;
  /** The complete ID. */
  readonly runId: string;
  readonly disk?: Disk;
  readonly clock?: Clock;
}

/** What changes while a run is read. */
interface Reading {
  readonly runId: string;
  readonly directory: string;
  readonly disk: Disk;
  readonly journal: JournalFollower;
  phase: RunPhase;
}

/** Reads a run and follows it. Takes no lock and changes nothing. */
export async function followRun(options: FollowRunOptions): Promise<Result<RunFollower, RunError>> {
  const { runId, disk = createSystemDisk(), clock = createSystemClock() } = options;
  const directory = runDirectory(path.resolve(options.home), runId);
  const plan = await readPlan(disk, directory);
  if (!plan.ok) return fail(rejectUnreadablePlan(runId, plan.error));
  if (!plan.value) return fail({ code: 'RUN_NOT_FOUND', message: `this home has no run ${runId}` });
  const reading: Reading = {
    runId,
    directory,
    disk,
    journal: followJournal(disk, directory, plan.value),
    phase: 'suspended',
  };
  const listeners = new Set<(problem?: RunError) => void>();
  const tell = (problem?: RunError) => {
    for (const listener of [...listeners]) listener(problem);
  };
  let current: Promise<Result<void, RunError>> | undefined;
  let stop: (() => void) | undefined;

  /** What is appended while a read is in progress may be missed by it: such a caller waits for the next one. */
  async function refresh({ asks }: { asks: boolean }): Promise<Result<void, RunError>> {
    if (current) await current;
    current ??= update(reading, { asks, tell }).finally(() => {
      current = undefined;
    });
    return current;
  }

  const first = await refresh({ asks: true });
  if (!first.ok) return first;
  return ok({
    runId,
    directory,
    get model() {
      return reading.journal.model as FollowedModel;
    },
    get phase() {
      return reading.phase;
    },
    async readLines(step, cell) {
      const places = reading.journal.model.places.of(step, cell);
      const parts = places.map((place) => disk.readPart(journalPath(directory), place));
      return (await Promise.all(parts)).flatMap((bytes) => (bytes && decodeLine(bytes)) ?? []);
    },
    refresh: () => refresh({ asks: true }),
    subscribe(listener) {
      listeners.add(listener);
      stop ??= watchDirectory({ disk, clock, directory }, () => refresh({ asks: false }));
      return () => {
        listeners.delete(listener);
        if (listeners.size > 0) return;
        stop?.();
        stop = undefined;
      };
    },
  });
}

async function update(
  reading: Reading,
  { asks, tell }: { asks: boolean; tell: (problem?: RunError) => void },
): Promise<Result<void, RunError>> {
  const before = { model: reading.journal.model, position: reading.journal.model.position, phase: reading.phase };
  const hasGrown = () => before.model !== reading.journal.model || before.position !== reading.journal.model.position;
  let read = await readModel(reading);
  if (read.ok) reading.phase = await readPhase(reading, asks || !hasGrown());
  const isIdle = reading.phase === 'suspended' || reading.phase === 'waiting';
  if (isIdle && before.phase !== 'suspended' && before.phase !== reading.phase) {
    // Its process may have written the end after the journal was read, and then released the run.
    read = await readModel(reading);
    reading.phase = reading.journal.model.facts.finished?.status ?? reading.phase;
  }
  if (!read.ok) tell(read.error);
  else if (hasGrown() || before.phase !== reading.phase) tell();
  return read;
}

async function readModel({ runId, journal }: Reading): Promise<Result<void, RunError>> {
  const read = await journal.read().catch((error: unknown) => fail(String(error)));
  if (!read.ok) {
    return fail({ code: 'JOURNAL_DAMAGED', message: `could not read the journal of run ${runId}: ${read.error}` });
  }
  if (journal.model.scheduler) return read;
  return fail({ code: 'JOURNAL_LOST', message: describeLostJournal(runId) });
}

/** A journal that grows is written by a process; it is asked only when nothing changes, since it has other work. */
async function readPhase({ disk, directory, journal }: Reading, asks: boolean): Promise<RunPhase> {
  const { finished } = journal.model.facts;
  if (finished) return finished.status;
  if (!asks) return 'running';
  return askPhase(disk, directory);
}
