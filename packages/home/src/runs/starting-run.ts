import path from 'node:path';
import { listSourceKeys, type VolumePlace } from '@sluice/run';
import { z } from 'zod';
import { isRunId } from '../identity/run-id.ts';
import type { Disk } from '../journal/disk.ts';

const startingSchema = z.object({
  pipeline: z.string(),
  createdAt: z.number(),
  reuses: z.string().optional(),
  /** Absent until all sources are uploaded. */
  sources: z.array(z.string()).optional(),
});

/** A run that has no journal yet: it uploads its sources, or waits in the queue of its concurrency group. */
export interface StartingRun extends z.infer<typeof startingSchema> {
  readonly runId: string;
}

/** Protects what a starting run needs from garbage collection. */
export interface StartAnnouncement {
  /** To be called when all sources are uploaded. */
  volumesReady(volumes: Readonly<Record<string, VolumePlace>>): Promise<void>;
  /** To be called when the run has a journal, or does not start. */
  end(): Promise<void>;
}

interface Place {
  readonly disk: Disk;
  readonly home: string;
}

/** Announces a run before its sources are uploaded. The announcement also ends with this process, even if it crashes. */
export async function announceStart({ disk, home }: Place, run: StartingRun): Promise<StartAnnouncement> {
  const { runId, ...announced } = run;
  const directory = path.join(home, 'starting', runId);
  // The claim comes first: an announcement without a claim belongs to a process that has ended.
  const claim = await disk.claim(directory);
  const write = (content: z.infer<typeof startingSchema>) =>
    disk.replace(path.join(directory, 'needs.json'), Buffer.from(JSON.stringify(content)));
  await write(announced);
  return {
    volumesReady: (volumes) => write({ ...announced, sources: listSourceKeys(volumes) }),
    async end() {
      if (!claim) return;
      await disk.remove(directory);
      await claim.release();
    },
  };
}

/** The runs of the home that are being started. Removes the announcements of processes that have ended. */
export async function listStartingRuns({ disk, home }: Place): Promise<StartingRun[]> {
  const root = path.join(home, 'starting');
  const found: StartingRun[] = [];
  for (const runId of (await disk.list(root)).filter(isRunId)) {
    const directory = path.join(root, runId);
    // Read before the claim is checked: the file is written under the claim; without a file, a process may be about to claim.
    const bytes = await disk.read(path.join(directory, 'needs.json'));
    if ((await disk.ask(directory, '')) === undefined) {
      if (bytes) await disk.remove(directory);
      continue;
    }
    // Claimed, but not written yet: the needs of the run are unknown.
    const content = bytes
      ? startingSchema.parse(JSON.parse(Buffer.from(bytes).toString('utf8')))
      : { pipeline: '', createdAt: 0 };
    found.push({ runId, ...content });
  }
  return found;
}
