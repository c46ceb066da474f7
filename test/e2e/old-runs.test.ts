import { spawnSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { encodeLine } from '../../packages/home/src/journal/line-codec.ts';
import { createSystemDisk } from '../../packages/home/src/journal/system-disk.ts';
import { type RemovalParts, removeOldRuns } from '../../packages/host/src/hosted/remove-old-runs.ts';
import { describeRemoval, readRemoval } from '../../packages/host/src/hosted/removed-runs.ts';
import type { JournalLine } from '../../packages/run/src/records/journal-line.ts';
import { mountSmallDisk } from '../../packages/service/test/store/small-disk.ts';

const DAY = 86_400_000;
const NOW = Date.now();
const RUN = 'aaaaaaaaaaaaa';
let home: string;
let used: string[];

beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'sluice-retention-'));
  used = [];
});
afterEach(() => rmSync(home, { recursive: true, force: true }));

/** A run that ended so many days ago. */
function addRun(runId: string, days: number): string {
  const directory = join(home, 'runs', runId);
  const at = NOW - days * DAY;
  mkdirSync(join(directory, 'logs'), { recursive: true });
  const header = { kind: 'run', runId, pipeline: 'p', format: 2, at: at - 1000, scheduler: {} };
  const lines = [header, { kind: 'finished', at, status: 'succeeded' }].map((record, index) =>
    encodeLine({ seq: index + 1, first: 1, epoch: 1, record } as unknown as JournalLine),
  );
  writeFileSync(join(directory, 'journal.ndjson'), lines.join(''));
  const summary = { pipeline: 'p', createdAt: at - 1000, status: 'succeeded', endedAt: at };
  writeFileSync(join(directory, 'summary.json'), JSON.stringify(summary));
  writeFileSync(join(directory, 'logs', 'a.log'), 'text');
  return directory;
}

async function remove(more: Partial<RemovalParts> = {}): Promise<void> {
  await removeOldRuns(90 * DAY, {
    home,
    orders: { exclude: (_, action) => action() },
    followers: { isUsed: (runId) => used.includes(runId), drop: () => {} },
    log: () => {},
    now: () => NOW,
    closing: new AbortController().signal,
    ...more,
  });
}

const present = () => readdirSync(join(home, 'runs')).sort();

test('only what ended before the days of retention is removed, and its end stays known', async () => {
  addRun(RUN, 90.1);
  addRun('bbbbbbbbbbbbb', 89.9);
  await remove();
  expect(present()).toEqual(['bbbbbbbbbbbbb']);
  expect(readdirSync(join(home, 'removed', RUN))).toEqual(['summary.json']);
  const removal = await readRemoval(home, RUN);
  const error = describeRemoval(RUN, { ...removal!, removedAt: NOW });
  const [today, ended] = [NOW, NOW - 90.1 * DAY].map((at) => new Date(at).toISOString().slice(0, 10));
  expect(error).toMatchObject({ status: 404, reason: 'RUN_REMOVED', details: { status: 'succeeded' } });
  expect(error.message).toBe(
    `could not find run aaaaaaaaaaaaa: the server removed it on ${today}: it ended on ${ended} (succeeded); a home that has followed it to its end has a copy`,
  );
});

test('a run that is marked, shown or held by a process stays until that has ended', async () => {
  const directory = addRun(RUN, 100);
  used.push(RUN);
  await remove();
  used = [];
  writeFileSync(join(directory, 'custody.json'), '{"state":"host","options":{}}');
  await remove();
  rmSync(join(directory, 'custody.json'));
  const claim = await createSystemDisk().claim(directory);
  await remove();
  expect(present()).toEqual([RUN]);
  await claim!.release();
  await remove();
  expect(present()).toEqual([]);
});

test('links are not followed, in a run and in the place of one', async () => {
  const elsewhere = join(home, 'elsewhere');
  mkdirSync(elsewhere);
  writeFileSync(join(elsewhere, 'file'), 'text');
  symlinkSync(elsewhere, join(addRun(RUN, 100), 'link'));
  const moved = join(home, 'moved');
  renameSync(addRun('bbbbbbbbbbbbb', 100), moved);
  symlinkSync(moved, join(home, 'runs', 'bbbbbbbbbbbbb'));
  mkdirSync(join(home, 'removed'));
  symlinkSync(elsewhere, join(home, 'removed', 'ccccccccccccc'));
  await remove();
  await remove();
  expect(readFileSync(join(elsewhere, 'file'), 'utf8')).toBe('text');
  expect(readdirSync(moved)).toContain('journal.ndjson');
  expect(present()).toEqual(['bbbbbbbbbbbbb']);
  expect(readdirSync(join(home, 'removed'))).toEqual([RUN]);
});

test('a run that an operator has restored is removed again, and after a year nothing is known of it', async () => {
  addRun(RUN, 100);
  await remove();
  addRun(RUN, 100);
  expect(await readRemoval(home, RUN)).toBe(undefined);
  await remove();
  expect(present()).toEqual([]);
  const directory = join(home, 'removed', RUN);
  expect(readdirSync(directory)).toEqual(['summary.json']);
  for (const [days, isKnown] of [
    [364, true],
    [366, false],
  ] as const) {
    utimesSync(directory, new Date(NOW - days * DAY), new Date(NOW - days * DAY));
    await remove();
    expect(existsSync(directory)).toBe(isKnown);
  }
  expect(await readRemoval(home, RUN)).toBe(undefined);
});

const canMount = process.getuid?.() === 0 && spawnSync('unshare', ['--mount', 'true']).status === 0;

test.skipIf(!canMount && process.env.CI !== 'true')('a full disk prevents no removal', async () => {
  const disk = mountSmallDisk('4m', home)!;
  try {
    await remove();
    addRun(RUN, 100);
    disk.fill();
    expect(() => writeFileSync(join(home, 'file'), Buffer.alloc(4096))).toThrow('ENOSPC');
    await remove();
    expect(present()).toEqual([]);
    expect(readdirSync(join(home, 'removed', RUN))).toEqual(['summary.json']);
  } finally {
    disk.unmount();
  }
});

test('a server that closes removes nothing more', async () => {
  addRun(RUN, 100);
  await remove({ closing: AbortSignal.abort() });
  expect(present()).toEqual([RUN]);
});
