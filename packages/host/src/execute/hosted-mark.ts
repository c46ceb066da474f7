import { existsSync, statSync } from 'node:fs';
import { readdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { isRunId, runDirectory } from '@sluice/home';
import { isSystemError, replaceFile } from '@sluice/host-system';
import { z } from 'zod';

const markSchema = z.object({ options: z.record(z.string(), z.union([z.string(), z.number()])) });

/**
 * Marks a run as hosted: the home's host resumes it whenever no process executes it. `options` are the ones with which
 * its service is opened; the host passes them on without interpreting them.
 */
export type HostedMark = z.infer<typeof markSchema>;

/** Marks a run, durably. */
export async function markHosted(home: string, runId: string, mark: HostedMark): Promise<void> {
  await replaceFile(markPath(home, runId), `${JSON.stringify(mark)}\n`);
}

/** Removes the mark, if there is one. */
export async function unmarkHosted(home: string, runId: string): Promise<void> {
  await rm(markPath(home, runId), { force: true });
}

/** Whether a run is marked. */
export function isHosted(home: string, runId: string): boolean {
  return existsSync(markPath(home, runId));
}

/** The mark of a run; undefined if there is none. A damaged mark counts as one without options. */
export async function readMark(home: string, runId: string): Promise<HostedMark | undefined> {
  let text: string;
  try {
    text = await readFile(markPath(home, runId), 'utf8');
  } catch (error) {
    if (isSystemError(error, 'ENOENT', 'ENOTDIR')) return undefined;
    throw error;
  }
  try {
    return markSchema.parse(JSON.parse(text));
  } catch {
    return { options: {} };
  }
}

/** The marked runs of a home, in the order in which they were marked: so those that waited longest are first again. */
export async function listHosted(home: string): Promise<string[]> {
  const names = await readdir(join(home, 'runs')).catch(() => []);
  const marked = names.filter((name) => isRunId(name) && isHosted(home, name));
  const times = new Map(marked.map((name) => [name, markTime(home, name)]));
  return marked.sort((a, b) => times.get(a)! - times.get(b)!);
}

function markTime(home: string, runId: string): number {
  return statSync(markPath(home, runId), { throwIfNoEntry: false })?.mtimeMs ?? 0;
}

function markPath(home: string, runId: string): string {
  return join(runDirectory(home, runId), 'hosted.json');
}
