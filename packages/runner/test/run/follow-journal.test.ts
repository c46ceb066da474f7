import type { Plan } from '@sluice/core';
import { encodeLine, followJournal, parseJournal } from '@sluice/home';
import { type RunModel, replayRun, SHOWN_STATUSES, statusOfCell } from '@sluice/run';
import fc from 'fast-check';
import { beforeAll, describe, expect, test } from 'vitest';
import { createMemoryDisk, type MemoryDisk } from '../../../home/test/memory-disk.ts';
import { recordSampleRun, type SampleRun } from './sample-run.ts';

const FILE = '/run/journal.ndjson';
let sample: SampleRun;

beforeAll(async () => {
  sample = await recordSampleRun();
});

/** What a new replay of these bytes shows of every cell. */
function replay(plan: Plan, bytes: Uint8Array) {
  const content = parseJournal(bytes);
  if (!content.ok) throw new Error(content.error);
  const run = replayRun(plan, content.value.records);
  const cells = plan.steps.map(({ index, cells: known }) => {
    const count = run ? (run.scheduler.cellCount(index) ?? 0) : (known?.length ?? 0);
    return Array.from({ length: count }, (_, cell) => {
      if (!run) return { status: 'waiting', reused: false };
      const { status, reused = false } = statusOfCell(run, index, cell);
      return { status, reused };
    });
  });
  return { position: content.value.seq, cells, facts: run?.facts };
}

const shown = (states: readonly ArrayLike<number>[]) =>
  states.map((row) =>
    Array.from(row, (code) => SHOWN_STATUSES[code]!).map(({ status, reused }) => ({ status, reused })),
  );

/** What a reader knows who has received nothing but the moves. */
function applyMoves(plan: Plan, { moves }: RunModel): number[][] {
  const states = plan.steps.map(({ cells }) => (cells ?? []).map(() => 0));
  for (let index = 0; index < moves.length; index++) {
    const { step, cell, status } = moves.at(index);
    states[step]![cell] = status;
  }
  return states;
}

function compare(model: RunModel, bytes: Uint8Array): void {
  const fresh = replay(sample.plan, bytes);
  expect(model.position).toBe(fresh.position);
  expect(shown(model.states)).toEqual(fresh.cells);
  expect(shown(applyMoves(sample.plan, model))).toEqual(fresh.cells);
  const count: Record<string, number> = {};
  for (const { status } of fresh.cells.flat()) count[status] = (count[status] ?? 0) + 1;
  expect(model.counts()).toEqual(count);
  if (fresh.facts) expect(model.facts).toEqual(fresh.facts);
}

function open(bytes: Uint8Array): { disk: MemoryDisk; follower: ReturnType<typeof followJournal> } {
  const disk = createMemoryDisk();
  disk.files.set(FILE, bytes);
  return { disk, follower: followJournal(disk, '/run', sample.plan) };
}

describe('followJournal', () => {
  test('reads a whole journal as a replay does', async () => {
    const { follower } = open(sample.journal);
    expect(await follower.read()).toEqual({ ok: true, value: undefined });
    compare(follower.model, sample.journal);
    expect(follower.model.facts.finished?.status).toBe('succeeded');
    expect(follower.model.moves.length).toBeGreaterThan(40);
  });

  test('shows at every step what a replay shows, wherever the journal is cut', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.nat(sample.journal.length), { maxLength: 12 }), async (cuts) => {
        const { disk, follower } = open(new Uint8Array());
        for (const cut of [...cuts.sort((a, b) => a - b), sample.journal.length]) {
          disk.files.set(FILE, sample.journal.subarray(0, cut));
          expect((await follower.read()).ok).toBe(true);
          compare(follower.model, sample.journal.subarray(0, cut));
        }
      }),
      { numRuns: 40 },
    );
  });

  test('does not read again what it has read', async () => {
    const { disk, follower } = open(sample.journal.subarray(0, sample.journal.length >> 1));
    await follower.read();
    const starts: number[] = [];
    const { readPart } = disk;
    disk.readPart = (file, part) => {
      starts.push(part.start);
      return readPart(file, part);
    };
    const { model } = follower;
    disk.files.set(FILE, sample.journal);
    await follower.read();
    expect(follower.model).toBe(model);
    expect(Math.min(...starts)).toBeGreaterThan(sample.journal.length / 3);
    compare(follower.model, sample.journal);
  });

  test('restarts when another journal is in the place of the one it has read', async () => {
    await fc.assert(
      fc.asyncProperty(fc.nat(sample.journal.length), fc.nat(sample.journal.length), async (before, after) => {
        const { disk, follower } = open(sample.journal.subarray(0, before));
        await follower.read();
        const other = rewrite({ epoch: 7 }).subarray(0, after);
        disk.files.set(FILE, other);
        expect((await follower.read()).ok).toBe(true);
        compare(follower.model, other);
        expect(follower.model.epochAt(1)).toBe(follower.model.position === 0 ? 0 : 7);
      }),
      { numRuns: 40 },
    );
  });

  test('drops what a newer runner voids, also if it was applied, and what an older one still writes', async () => {
    const count = sample.records.length;
    const script = fc.record({
      read: fc.integer({ min: 1, max: count }),
      old: fc.nat(count),
      late: fc.nat(3),
      cuts: fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { maxLength: 8 }),
    });
    await fc.assert(
      fc.asyncProperty(script, async ({ read, old, late, cuts }) => {
        // The newer runner has read `read` records; the older one has written `old` more that it did not see.
        const written = Math.min(count, read + old);
        const bytes = Buffer.concat([
          rewrite({ epoch: 1, to: written }),
          rewrite({ epoch: 2, from: read, to: read + 1 }),
          rewrite({ epoch: 1, from: written, to: written + late }),
          rewrite({ epoch: 2, from: read + 1 }),
        ]);
        const { disk, follower } = open(new Uint8Array());
        for (const cut of [...cuts.sort((a, b) => a - b), 1]) {
          const part = bytes.subarray(0, Math.round(cut * bytes.length));
          disk.files.set(FILE, part);
          expect((await follower.read()).ok).toBe(true);
          compare(follower.model, part);
        }
      }),
      { numRuns: 60 },
    );
  });

  test('reports a damaged record, and continues when the journal is whole again', async () => {
    const { disk, follower } = open(sample.journal.subarray(0, 2000));
    await follower.read();
    const damaged = Buffer.from(sample.journal).fill(0, 2200, 2300);
    disk.files.set(FILE, damaged);
    expect(await follower.read()).toMatchObject({ ok: false, error: expect.stringContaining('is damaged') });
    disk.files.set(FILE, sample.journal);
    expect((await follower.read()).ok).toBe(true);
    compare(follower.model, sample.journal);
  });
});

/** The records `from` (first: 0) to before `to` of the sample as a runner with another epoch writes them. */
function rewrite({ epoch, from = 0, to = sample.records.length }: { epoch: number; from?: number; to?: number }) {
  const lines = sample.records
    .slice(from, to)
    .map((record, index) => encodeLine({ seq: from + index + 1, first: 1, epoch, record }));
  return Buffer.from(lines.join(''));
}
