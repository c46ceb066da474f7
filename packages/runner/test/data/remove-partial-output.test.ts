import type { FileEntry, VolumeFiles } from '@sluice/client';
import { describe, expect, test } from 'vitest';
import { createMemoryDisk } from '../../../home/test/memory-disk.ts';
import { createHandPlan, createStep } from '../../../run/test/plans.ts';
import { removePartialOutput } from '../../src/data/remove-partial-output.ts';
import type { RunSession } from '../../src/session/run-session.ts';

const AT = { step: 0, cell: 0, attempt: 1 };
const PLACE = 'runs/r1/work/make/a1';
const NO_SPACE = ['sh: cannot create /out/many/7: No space left on device'];

/** Lets an attempt fail that has left `count` empty files in its output; returns the warnings, and what was removed. */
async function failWith(
  count: number,
  { freeInodes, logTail = [], isElsewhere = false }: { freeInodes: number; logTail?: string[]; isElsewhere?: boolean },
) {
  const disk = createMemoryDisk();
  disk.freeInodes = freeInodes;
  const entries = Array.from({ length: count }, (_, index) => ({
    kind: 'file',
    path: `${PLACE}/many/${index}`,
    size: 0,
  }));
  if (!isElsewhere) for (const { path } of entries) disk.files.set(`/home/service/volumes/v/${path}`, new Uint8Array());
  const removed: string[] = [];
  const files = {
    list: async (path: string) => (path === PLACE ? (entries as FileEntry[]) : []),
    remove: async (path: string) => void removed.push(path),
  };
  const warnings: string[] = [];
  const session = {
    ...{
      disk,
      home: '/home',
      runId: 'r1',
      plan: createHandPlan([createStep('make', { outputs: { many: { path: '/out', retain: false } } })]),
    },
    facts: { cells: [[{ key: '' }]], header: { clusters: [] }, known: [] },
    calls: { add: (call: () => Promise<unknown>) => call() },
    clock: { now: () => 0 },
    report: ({ message }: { message: string }) => warnings.push(message),
  };
  const workspace = () => files as unknown as VolumeFiles;
  await removePartialOutput(session as unknown as RunSession, workspace, { at: AT, logTail });
  return { warnings, removed };
}

describe('removePartialOutput, of an output without bytes,', () => {
  test('removes many files if the disk of the home has too few inodes, and says how many', async () => {
    expect(await failWith(3000, { freeInodes: 10 })).toEqual({
      warnings: [
        'removed the partial output of make: its 3000 files and directories were on the disk of /home, which had too few inodes left',
      ],
      removed: [PLACE],
    });
  });

  test('removes fewer only if the log says that the disk was full', async () => {
    expect(await failWith(100, { freeInodes: 10 })).toEqual({ warnings: [], removed: [] });
    expect(await failWith(100, { freeInodes: 10, logTail: NO_SPACE })).toMatchObject({ removed: [PLACE] });
    expect(await failWith(3, { freeInodes: 10, logTail: NO_SPACE })).toMatchObject({ removed: [] });
  });

  test('removes nothing if there are inodes, or if the output is on another machine', async () => {
    expect(await failWith(3000, { freeInodes: 5000, logTail: NO_SPACE })).toEqual({ warnings: [], removed: [] });
    const elsewhere = { freeInodes: 10, logTail: NO_SPACE, isElsewhere: true };
    expect(await failWith(3000, elsewhere)).toEqual({ warnings: [], removed: [] });
  });
});
