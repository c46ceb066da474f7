import { isServiceError, type VolumeFiles } from '@sluice/client';
import { isFannedOut } from '../data/create-mounts.ts';
import { publishedPath } from '../data/layout.ts';
import { describeSiblings } from '../data/siblings.ts';
import type { CacheMiss } from '../journal/journal-record.ts';
import type { RunSession } from '../run/run-session.ts';
import type { Command } from '../scheduler/command.ts';
import type { SchedulerEvent } from '../scheduler/event.ts';
import { addToCacheIndex, type CacheEntry, type CacheIndex, readCacheIndex } from './cache-index.ts';
import { createCellFingerprinter } from './fingerprint-cell.ts';
import { createPresence } from './presence.ts';

/** A run's dealings with the home's cache (design §4). */
export interface RunCache {
  /** Looks for an earlier success with the same fingerprint whose data is still there, and posts the answer. */
  lookUp(command: Extract<Command, { type: 'lookUp' }>): void;
  /** Remembers what succeeded. */
  hear(event: SchedulerEvent): void;
  /** Resolves when everything is written. */
  idle(): Promise<void>;
}

export function createRunCache(session: RunSession, workspace: () => VolumeFiles): RunCache {
  const { clock, facts, plan, disk, home, scope } = session;
  const fingerprint = createCellFingerprinter(session);
  const presence = createPresence(workspace, clock);
  let index: Promise<CacheIndex> | undefined;
  let fresh: CacheEntry[] = [];
  let writing = Promise.resolve();

  async function find(step: number, cell: number): Promise<void> {
    index ??= readCacheIndex(disk, home);
    const known = await index;
    const made = fingerprint(step, cell);
    if (session.stopped) return;
    const at = clock.now();
    if (!made.ok) {
      // The same expression fails again when the container is made, and is reported there.
      session.post({ type: 'cacheMissed', at, step, cell });
      return;
    }
    const { digest, components } = made.value;
    const entry = known.find(digest);
    const reason = entry ? await unusable(step, entry) : 'unknown';
    if (session.stopped) return;
    if (entry && reason === undefined) {
      const { runId, volumeID, siblings, results } = entry;
      const cached = { runId, step: entry.step, cell: entry.cell, volumeID, fingerprint: digest, siblings, results };
      session.post({ type: 'cacheHit', at, step, cell }, { cached });
      return;
    }
    const name = { pipeline: plan.pipeline.name, step: plan.steps[step]!.step.name, cell: cellKey(step, cell) };
    const latest = known.latest(name)?.runId;
    const missed: CacheMiss = {
      fingerprint: digest,
      components,
      reason: reason ?? 'unknown',
      ...(latest !== undefined && { latest }),
    };
    session.post({ type: 'cacheMissed', at, step, cell }, { missed });
  }

  /** Why a success that is known cannot be reused; undefined when it can. */
  async function unusable(step: number, entry: CacheEntry): Promise<'expired' | 'dataGone' | undefined> {
    const spec = plan.steps[step]!.step;
    const maxAgeMs = spec.cache?.maxAgeMs;
    if (maxAgeMs !== undefined && clock.now() - entry.at > maxAgeMs) return 'expired';
    const outputs = Object.keys(spec.outputs);
    if (outputs.length === 0) return undefined;
    if (entry.volumeID !== facts.volumes['']?.volumeID) return 'dataGone';
    for (const output of outputs) {
      const place = { runId: entry.runId, step: entry.step, output };
      const isThere = isFannedOut(session, step)
        ? await presence.has(publishedPath(place), entry.cell)
        : await presence.isThere(publishedPath(place));
      if (!isThere) return 'dataGone';
    }
    return undefined;
  }

  function cellKey(step: number, cell: number): string {
    return facts.cells[step]?.[cell]?.key ?? '';
  }

  function remember(step: number, cell: number): void {
    const known = facts.known[step]?.[cell];
    if (!known?.missed) return;
    if (fresh.length === 0) clock.defer(write);
    fresh.push({
      fingerprint: known.missed.fingerprint,
      pipeline: plan.pipeline.name,
      step: plan.steps[step]!.step.name,
      cell: cellKey(step, cell),
      runId: session.runId,
      volumeID: facts.volumes['']?.volumeID ?? '',
      ...scope,
      siblings: describeSiblings(facts.cells[step] ?? []),
      results: known.results,
      at: clock.now(),
    });
  }

  function write(): void {
    const entries = fresh;
    fresh = [];
    writing = writing.then(() => addToCacheIndex(disk, home, entries)).catch(warn);
  }

  function warn(error: unknown): void {
    const message = `could not remember what succeeded: ${error instanceof Error ? error.message : String(error)}`;
    session.report({ type: 'warning', at: clock.now(), message });
  }

  return {
    lookUp: ({ step, cell }) =>
      void find(step, cell).catch((error: unknown) => {
        if (!isServiceError(error)) return session.bug(error);
        // A volume that does not answer cannot be trusted to have the data.
        session.post({ type: 'cacheMissed', at: clock.now(), step, cell });
      }),
    hear(event) {
      if (event.type === 'published' && plan.steps[event.step]!.step.cache) remember(event.step, event.cell);
    },
    async idle() {
      if (fresh.length > 0) write();
      await writing;
    },
  };
}
