import path from 'node:path';
import type { Json } from '@sluice/core';
import type { Disk } from '../journal/disk.ts';

/** One success that can be reused. */
export interface CacheEntry {
  readonly fingerprint: string;
  /** The identity of its outputs: the attempt that wrote them. */
  readonly digest: string;
  readonly pipeline: string;
  readonly step: string;
  readonly cell: string;
  /** See `CacheSource.path`. */
  readonly path?: string;
  readonly runId: string;
  /** `''` for a step without outputs. */
  readonly volumeID: string;
  readonly clusterID: string;
  readonly accountID: string;
  readonly siblings: string;
  readonly results: Readonly<Record<string, Json>>;
  readonly at: number;
}

/** The successes of a home by fingerprint and by cell. */
export interface CacheIndex {
  /**
   * The usable successes with this fingerprint, at most one of each volume, those of the latest run first. Cells that were
   * executed by parallel runs are thus taken from the same run, together with the results that it has created from them.
   */
  list(fingerprint: string, isUsable: (entry: CacheEntry) => boolean): readonly CacheEntry[];
  /** The newest usable success of this cell with any fingerprint. It explains a cache miss. */
  latest(
    of: { pipeline: string; step: string; cell: string },
    isUsable: (entry: CacheEntry) => boolean,
  ): CacheEntry | undefined;
}

/** Reads the home's index. Lines that a crash has damaged are ignored: each costs one more execution. */
export async function readCacheIndex(disk: Disk, home: string): Promise<CacheIndex> {
  const entries = (await readLines(disk, home)).flatMap((line) => parseEntry(line) ?? []);
  const byFingerprint = new Map<string, CacheEntry[]>();
  const byCell = new Map<string, CacheEntry[]>();
  for (const entry of sortByRun(entries)) addLatest(byFingerprint, entry.fingerprint, entry);
  for (const entry of entries) addLatest(byCell, cellKey(entry), entry);
  return {
    list: (fingerprint, isUsable) => byFingerprint.get(fingerprint)?.filter(isUsable).reverse() ?? [],
    latest: (of, isUsable) => byCell.get(cellKey(of))?.findLast(isUsable),
  };
}

/** Run by run in the order of their last entries. */
function sortByRun(entries: readonly CacheEntry[]): readonly CacheEntry[] {
  const rank = new Map<string, number>();
  for (const [at, { runId }] of entries.entries()) rank.set(runId, at);
  return [...entries].sort((a, b) => rank.get(a.runId)! - rank.get(b.runId)!);
}

/** Keeps the latest entry of each volume; the last one is the latest of all. */
function addLatest(entries: Map<string, CacheEntry[]>, key: string, entry: CacheEntry): void {
  const others = entries.get(key)?.filter(({ volumeID }) => volumeID !== entry.volumeID) ?? [];
  entries.set(key, [...others, entry]);
}

/** Adds successes to the home's index. */
export async function addToCacheIndex(disk: Disk, home: string, entries: readonly CacheEntry[]): Promise<void> {
  const lines = entries.map((entry) => `${JSON.stringify(entry)}\n`).join('');
  await disk.extend(indexPath(home), Buffer.from(lines));
}

/** The runs with outputs in the home's index. */
export async function listCachedRuns(disk: Disk, home: string): Promise<ReadonlySet<string>> {
  const entries = (await readLines(disk, home)).map(parseEntry);
  return new Set(entries.flatMap((entry) => (entry ? [entry.runId] : [])));
}

/**
 * Removes the successes of these runs from the home's index. An entry that another process adds at the same time may be
 * lost, which costs one more execution.
 */
export async function removeFromCacheIndex(disk: Disk, home: string, runIds: ReadonlySet<string>): Promise<void> {
  const lines = await readLines(disk, home);
  const kept = lines.filter((line) => {
    const entry = parseEntry(line);
    return entry !== undefined && !runIds.has(entry.runId);
  });
  if (kept.length === lines.filter((line) => line !== '').length) return;
  await disk.replace(indexPath(home), Buffer.from(kept.map((line) => `${line}\n`).join('')));
}

async function readLines(disk: Disk, home: string): Promise<string[]> {
  const bytes = (await disk.read(indexPath(home))) ?? new Uint8Array();
  return Buffer.from(bytes).toString('utf8').split('\n');
}

function indexPath(home: string): string {
  return path.join(home, 'cache.ndjson');
}

function cellKey(of: { pipeline: string; step: string; cell: string }): string {
  return `${of.pipeline}/${of.step}/${of.cell}`;
}

/** Undefined: the line is damaged. Without a schema: validating ten thousand lines with one takes 100 ms. */
function parseEntry(line: string): CacheEntry | undefined {
  if (line === '') return undefined;
  try {
    const value = JSON.parse(line) as CacheEntry;
    return typeof value.fingerprint === 'string' && typeof value.runId === 'string' ? value : undefined;
  } catch {
    return undefined;
  }
}
