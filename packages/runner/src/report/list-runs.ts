import path from 'node:path';
import type { Disk } from '../journal/disk.ts';
import { readJournal } from '../journal/read-journal.ts';
import { createSystemDisk } from '../journal/system-disk.ts';
import { listRunIds, runDirectory } from '../record/run-home.ts';
import { readSummary } from '../record/run-summary.ts';
import type { RunPhase } from './run-report.ts';

/** One run in a list of runs. */
export interface RunSummary {
  readonly runId: string;
  readonly pipeline: string;
  readonly status: RunPhase;
  readonly startedAt: number;
  readonly endedAt?: number;
  /** A message if the run's files could not be read; the other values are then defaults. */
  readonly problem?: string;
}

/** The home's runs, newest first. Reads one small file for each run, so that listing thousands is fast. */
export async function listRuns(home: string, disk: Disk = createSystemDisk()): Promise<RunSummary[]> {
  const root = path.resolve(home);
  const ids = await listRunIds(disk, root);
  const runs = (await Promise.all(ids.map((runId) => summarize(disk, root, runId)))).filter((run) => run !== undefined);
  return runs.sort((a, b) => b.startedAt - a.startedAt || (a.runId < b.runId ? -1 : 1));
}

async function summarize(disk: Disk, home: string, runId: string): Promise<RunSummary | undefined> {
  const directory = runDirectory(home, runId);
  const stored = await readSummary(disk, directory);
  if (!stored) {
    if (!(await hasBegun(disk, directory))) return undefined;
    const problem = `could not read the summary of run ${runId}`;
    return { runId, pipeline: '', status: 'suspended', startedAt: 0, problem };
  }
  if (stored.collectedAt !== undefined) return undefined;
  const { pipeline, startedAt, status, endedAt } = stored;
  return {
    runId,
    pipeline,
    status: status ?? ((await disk.ask(directory, '')) === undefined ? 'suspended' : 'active'),
    startedAt,
    ...(endedAt !== undefined && { endedAt }),
  };
}

/** False if a crash ended the run before its first record was durable: nothing was started, and nothing can be resumed. */
async function hasBegun(disk: Disk, directory: string): Promise<boolean> {
  const content = await readJournal(disk, directory);
  return !content.ok || content.value.records.some(({ kind }) => kind === 'run');
}
