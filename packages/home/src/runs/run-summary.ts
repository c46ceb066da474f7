import path from 'node:path';
import { MAX_TIME, type RunFacts, type RunStatus, timesOf } from '@sluice/run';
import { z } from 'zod';
import type { Disk } from '../journal/disk.ts';
import { createSystemDisk } from '../journal/system-disk.ts';
import { runDirectory } from './run-home.ts';

const time = z.number().min(0).max(MAX_TIME);
const summarySchema = z.object({
  pipeline: z.string(),
  labels: z.record(z.string(), z.string()).optional(),
  createdAt: time,
  startedAt: time.optional(),
  status: z.enum(['succeeded', 'failed', 'canceled']).optional(),
  endedAt: time.optional(),
  /** The number of cells by status, once the run has ended in this home. */
  counts: z.record(z.string(), z.number()).optional(),
  /** When garbage collection removed all other data of the run. */
  collectedAt: time.optional(),
});

/** What a list of runs shows of each: stored in a file of its own, so that listing reads no journals. */
export type StoredSummary = z.infer<typeof summarySchema>;

/** Replaces the summary in a run's directory. */
export async function writeSummary(disk: Disk, directory: string, summary: StoredSummary): Promise<void> {
  await disk.replace(summaryPath(directory), Buffer.from(`${JSON.stringify(summary)}\n`));
}

/** Stores how a run has ended of which the journal in this home does not know it. */
export async function recordRemovedRun(
  home: string,
  { runId, status, endedAt }: { readonly runId: string; readonly status: RunStatus; readonly endedAt: number },
): Promise<void> {
  const disk = createSystemDisk();
  const directory = runDirectory(home, runId);
  const stored = await readSummary(disk, directory);
  if (stored && stored.status === undefined) await writeSummary(disk, directory, { ...stored, status, endedAt });
}

/** As `readSummary`, for a directory of this machine that need not be in a home. */
export function readStoredSummary(directory: string): Promise<StoredSummary | undefined> {
  return readSummary(createSystemDisk(), directory);
}

/** The summary in a run's directory; undefined if there is none, or if it is damaged. */
export async function readSummary(disk: Disk, directory: string): Promise<StoredSummary | undefined> {
  const bytes = await disk.read(summaryPath(directory));
  if (!bytes) return undefined;
  try {
    return summarySchema.parse(JSON.parse(Buffer.from(bytes).toString('utf8')));
  } catch {
    return undefined;
  }
}

/** Whether a run's directory has a summary, which may be damaged: then the run has begun. */
export async function hasSummary(disk: Disk, directory: string): Promise<boolean> {
  return (await disk.read(summaryPath(directory))) !== undefined;
}

function summaryPath(directory: string): string {
  return path.join(directory, 'summary.json');
}

/** The summary of a run according to its facts. */
export function summarize(facts: RunFacts): StoredSummary {
  const { labels } = facts.plan.pipeline;
  return {
    pipeline: facts.plan.pipeline.name,
    ...(Object.keys(labels).length > 0 && { labels }),
    ...timesOf(facts),
    ...(facts.finished && { status: facts.finished.status }),
  };
}
