import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import {
  finishRemovals,
  moveToRemoved,
  prepareRemovals,
  readRemoval,
  rejectRemoved,
} from '../../src/hosted/removed-runs.ts';

const RUN = 'aaaaaaaaaaaaa';
const ENDED = Date.UTC(2026, 0, 2);
const DAY_MS = 86_400_000;

let home: string;
const at = (...path: string[]) => join(home, ...path);

beforeEach(async () => {
  home = mkdtempSync(join(tmpdir(), 'sluice-removed-'));
  await prepareRemovals(home);
});

afterEach(() => rmSync(home, { recursive: true }));

/** A run with a summary of its end, and files. */
function createRun(): void {
  mkdirSync(at('runs', RUN, 'logs'), { recursive: true });
  const summary = { pipeline: 'p', createdAt: ENDED - 1000, status: 'succeeded', endedAt: ENDED };
  writeFileSync(at('runs', RUN, 'summary.json'), JSON.stringify(summary));
  writeFileSync(at('runs', RUN, 'journal.ndjson'), '{}');
  writeFileSync(at('runs', RUN, 'logs/a.log'), 'text');
}

test('a removed run leaves its summary, and every request about it is told how it ended', async () => {
  createRun();
  expect(await readRemoval(home, RUN)).toBeUndefined();
  await rejectRemoved(home, RUN);
  await moveToRemoved(home, RUN);
  expect(readdirSync(at('runs'))).toEqual([]);
  await finishRemovals(home, Date.now());
  expect(readdirSync(at('removed', RUN))).toEqual(['summary.json']);
  await expect(rejectRemoved(home, RUN)).rejects.toMatchObject({
    ...{ status: 404, reason: 'RUN_REMOVED', details: { status: 'succeeded', endedAt: '2026-01-02T00:00:00.000Z' } },
    message: expect.stringContaining('it ended on 2026-01-02 (succeeded)'),
  });
});

test('a process that is killed between the rename and the deletion is continued by the next one', async () => {
  createRun();
  await moveToRemoved(home, RUN);
  expect(readdirSync(at('removed', RUN)).sort()).toEqual(['journal.ndjson', 'logs', 'summary.json']);
  expect(await readRemoval(home, RUN)).toMatchObject({ summary: { status: 'succeeded' } });
  await finishRemovals(home, Date.now());
  expect(readdirSync(at('removed', RUN))).toEqual(['summary.json']);
});

test('what is known of a run is forgotten after a year', async () => {
  createRun();
  await moveToRemoved(home, RUN);
  await finishRemovals(home, Date.now() + 364 * DAY_MS);
  expect(existsSync(at('removed', RUN))).toBe(true);
  utimesSync(at('removed', RUN), new Date(ENDED), new Date(ENDED));
  await finishRemovals(home, ENDED + 366 * DAY_MS);
  expect(existsSync(at('removed', RUN))).toBe(false);
  await rejectRemoved(home, RUN);
});

test('a run that an operator has restored is a run, and can be removed again', async () => {
  createRun();
  await moveToRemoved(home, RUN);
  createRun();
  expect(await readRemoval(home, RUN)).toBeUndefined();
  await moveToRemoved(home, RUN);
  expect(readdirSync(at('removed', RUN))).toContain('journal.ndjson');
});

test('a damaged summary still says that the run was removed', async () => {
  createRun();
  writeFileSync(at('runs', RUN, 'summary.json'), '{');
  await moveToRemoved(home, RUN);
  expect(await readRemoval(home, RUN)).toMatchObject({ summary: undefined });
  await expect(rejectRemoved(home, RUN)).rejects.toMatchObject({ reason: 'RUN_REMOVED', details: {} });
});

test('what links lead to stays', async () => {
  const outside = mkdtempSync(join(tmpdir(), 'sluice-outside-'));
  try {
    writeFileSync(join(outside, 'kept'), 'kept');
    createRun();
    symlinkSync(outside, at('runs', RUN, 'link'));
    symlinkSync(outside, at('removed', 'bbbbbbbbbbbbb'));
    await moveToRemoved(home, RUN);
    expect(await readRemoval(home, 'bbbbbbbbbbbbb')).toBeUndefined();
    await finishRemovals(home, Date.now());
    expect(readdirSync(at('removed'))).toEqual([RUN]);
    expect(readdirSync(outside)).toEqual(['kept']);
  } finally {
    rmSync(outside, { recursive: true });
  }
});
