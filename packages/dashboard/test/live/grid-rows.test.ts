import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { GridRows } from '../../src/live/grid-rows.ts';

const TOTAL = 100_000;
/** The first rows of the requested pages. */
let requested: number[];
let position: number;
let status: string;
let opened: GridRows | undefined;

beforeEach(() => {
  requested = [];
  position = 1;
  status = 'running';
  vi.stubGlobal('document', { baseURI: 'http://localhost/', hidden: true });
  vi.stubGlobal('fetch', async (url: string) => {
    const { searchParams: query } = new URL(url);
    const [first, size] = [Number(query.get('firstRow')), Number(query.get('pageSize'))];
    requested.push(first);
    const rows = Array.from({ length: size }, (_, index) => ({
      row: `S${first + index}`,
      entries: [{ status, cellIndex: first + index, cellCount: 1 }],
    }));
    const head = {
      axes: ['s'],
      choices: [['s']],
      columns: [],
      total: TOTAL,
      rowCount: TOTAL,
      failedCount: 0,
      position,
    };
    return Response.json({ ...head, rows });
  });
});
afterEach(() => {
  // What it would request again later has no document any more.
  opened?.close();
  vi.unstubAllGlobals();
});

/** Resolves after the replies to all requests so far. */
async function replies(rows: GridRows): Promise<void> {
  await new Promise<void>((resolve) => {
    const stop = rows.subscribe(() => {
      stop();
      resolve();
    });
  });
}

const open = async () => {
  const rows = new GridRows('runs/r/grid', { axes: undefined, failed: false });
  opened = rows;
  await replies(rows);
  return rows;
};

test('rowAt loads the page of a row once, anywhere in a long grid', async () => {
  const rows = await open();
  expect([rows.head?.total, rows.rowAt(3)?.row, rows.rowAt(99_950)]).toEqual([TOTAL, 'S3', undefined]);
  rows.rowAt(99_951);
  await replies(rows);
  expect(rows.rowAt(99_950)?.row).toBe('S99950');
  expect(requested).toEqual([0, 99_900]);
});

test('refresh keeps the rows until the new ones are there', async () => {
  const rows = await open();
  [position, status] = [2, 'succeeded'];
  rows.refresh();
  expect(rows.rowAt(0)?.entries[0]?.status).toBe('running');
  await replies(rows);
  expect(rows.rowAt(0)?.entries[0]?.status).toBe('succeeded');
  expect(requested).toEqual([0, 0]);
});

test('only some pages are kept', async () => {
  const rows = await open();
  for (let page = 1; page <= 60; page++) {
    rows.rowAt(page * 100);
    await replies(rows);
  }
  expect(rows.rowAt(6_000)?.row).toBe('S6000');
  expect(rows.rowAt(0)).toBe(undefined);
});

test('a lost request is reported, and the rows are loaded again', async () => {
  const rows = await open();
  const fetch = globalThis.fetch;
  vi.stubGlobal('fetch', async () => {
    throw new Error('lost');
  });
  rows.rowAt(500);
  await replies(rows);
  expect(rows.error).toContain('does not reply');
  vi.stubGlobal('fetch', fetch);
  rows.refresh();
  rows.rowAt(500);
  await replies(rows);
  expect([rows.error, rows.rowAt(500)?.row]).toEqual([undefined, 'S500']);
});
