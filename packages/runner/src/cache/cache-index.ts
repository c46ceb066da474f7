import path from 'node:path';
import type { Json } from '@sluice/core';
import type { Disk } from '../journal/disk.ts';

/** One success that can be reused. */
export interface CacheEntry {
  readonly fingerprint: string;
  readonly pipeline: string;
  readonly step: string;
  readonly cell: string;
  readonly runId: string;
  /** `''` for a step without outputs. */
  readonly volumeID: string;
  readonly clusterID: string;
  readonly accountID: string;
  readonly siblings: string;
  readonly results: Readonly<Record<string, Json>>;
  readonly at: number;
}

/** The successes of a home, by what their work was. */
export interface CacheIndex {
  /** The newest success with this fingerprint. */
  find(fingerprint: string): CacheEntry | undefined;
  /** The newest success of this cell, whatever its fingerprint: what a miss is explained by. */
  latest(of: { pipeline: string; step: string; cell: string }): CacheEntry | undefined;
}

/** Reads the home's index. A line that was torn by a crash is a success forgotten, and costs one more execution. */
export async function readCacheIndex(disk: Disk, home: string): Promise<CacheIndex> {
  const byFingerprint = new Map<string, CacheEntry>();
  const byCell = new Map<string, CacheEntry>();
  const bytes = (await disk.read(indexPath(home))) ?? new Uint8Array();
  for (const line of Buffer.from(bytes).toString('utf8').split('\n')) {
    const entry = parseEntry(line);
    if (!entry) continue;
    byFingerprint.set(entry.fingerprint, entry);
    byCell.set(cellKey(entry), entry);
  }
  return {
    find: (fingerprint) => byFingerprint.get(fingerprint),
    latest: (of) => byCell.get(cellKey(of)),
  };
}

/** Adds successes to the home's index. */
export async function addToCacheIndex(disk: Disk, home: string, entries: readonly CacheEntry[]): Promise<void> {
  const lines = entries.map((entry) => `${JSON.stringify(entry)}\n`).join('');
  await disk.extend(indexPath(home), Buffer.from(lines));
}

function indexPath(home: string): string {
  return path.join(home, 'cache.ndjson');
}

function cellKey(of: { pipeline: string; step: string; cell: string }): string {
  return `${of.pipeline}/${of.step}/${of.cell}`;
}

/** A line of ours, or nothing: no schema, since ten thousand of them must not cost a tenth of a second. */
function parseEntry(line: string): CacheEntry | undefined {
  if (line === '') return undefined;
  try {
    const value = JSON.parse(line) as CacheEntry;
    return typeof value.fingerprint === 'string' && typeof value.runId === 'string' ? value : undefined;
  } catch {
    return undefined;
  }
}
