import path from 'node:path';
import { newestFirst, type RunPhase, type RunSummary } from '@sluice/run';
import { askPhase } from '../journal/ask-phase.ts';
import type { Disk } from '../journal/disk.ts';
import { readJournal } from '../journal/read-journal.ts';
import { createSystemDisk } from '../journal/system-disk.ts';
import { listRunIds, runDirectory } from './run-home.ts';
import { readSummary, type StoredSummary } from './run-summary.ts';

/** The home's runs, newest first. Reads one small file for each run, so that listing thousands is fast. */
export async function listRuns(home: string, disk: Disk = createSystemDisk()): Promise<RunSummary[]> {
  const root = path.resolve(home);
  const ids = await listRunIds(disk, root);
  const runs = (await Promise.all(ids.map((runId) => readRunSummary(root, runId, disk)))).filter(
    (run) => run !== undefined,
  );
  return runs.sort(newestFirst);
}

/** One run of the list; undefined if it has not begun or was removed. */
export async function readRunSummary(
  home: string,
  runId: string,
  disk: Disk = createSystemDisk(),
): Promise<RunSummary | undefined> {
  const directory = runDirectory(home, runId);
  const stored = await readSummary(disk, directory);
  if (!stored) {
    if (!(await hasBegun(disk, directory))) return undefined;
    const problem = `could not read the summary of run ${runId}`;
    return { runId, pipeline: '', status: 'suspended', createdAt: 0, problem };
  }
  if (stored.collectedAt !== undefined) return undefined;
  const { status, ...rest } = stored;
  if (status !== undefined) return summaryOf(runId, rest, status);
  const phase = await askPhase(disk, directory);
  if (phase !== 'suspended') return summaryOf(runId, rest, phase);
  // Its process may have ended the run after the summary was read, and then released it.
  const latest = (await readSummary(disk, directory)) ?? stored;
  return summaryOf(runId, latest, latest.status ?? 'suspended');
}

function summaryOf(
  runId: string,
  { pipeline, labels, createdAt, startedAt, endedAt, counts }: Omit<StoredSummary, 'status'>,
  status: RunPhase,
): RunSummary {
  return {
    runId,
    pipeline,
    ...(labels && { labels }),
    status,
    createdAt,
    ...(startedAt !== undefined && { startedAt }),
    ...(endedAt !== undefined && { endedAt }),
    ...(counts && { counts }),
  };
}

/** False if a crash ended the run before its first record was durable: nothing was started, and nothing can be resumed. */
async function hasBegun(disk: Disk, directory: string): Promise<boolean> {
  const content = await readJournal(disk, directory);
  return !content.ok || content.value.records.some(({ kind }) => kind === 'run');
}
