import path from 'node:path';
import { newestFirst, type RunPhase, type RunSummary } from '@sluice/run';
import { askPhase } from '../journal/ask-phase.ts';
import type { Disk } from '../journal/disk.ts';
import { readJournal } from '../journal/read-journal.ts';
import { createSystemDisk } from '../journal/system-disk.ts';
import { replayFromHome } from './read-run.ts';
import { listRunIds, runDirectory } from './run-home.ts';
import { readSummary, type StoredSummary, summarize } from './run-summary.ts';

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
  const stored = (await readSummary(disk, directory)) ?? (await deriveSummary(disk, { home, runId }));
  if (stored === undefined) return undefined;
  if ('problem' in stored) return { runId, pipeline: '', status: 'suspended', createdAt: 0, problem: stored.problem };
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

/**
 * What the journal says of a run whose summary was not written yet, or is damaged. Undefined if it has not begun: a crash ended
 * it before its first record was durable, so nothing was started, and nothing can be resumed.
 */
async function deriveSummary(
  disk: Disk,
  { home, runId }: { readonly home: string; readonly runId: string },
): Promise<StoredSummary | { readonly problem: string } | undefined> {
  const content = await readJournal(disk, runDirectory(home, runId));
  if (content.ok && !content.value.records.some(({ kind }) => kind === 'run')) return undefined;
  const replayed = await replayFromHome(disk, home, runId);
  return replayed.ok
    ? summarize(replayed.value.facts)
    : { problem: `could not read the summary of run ${runId}: ${replayed.error.message}` };
}
