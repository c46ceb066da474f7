import { encodeLine, openJournalMirror } from '@sluice/home';
import fc from 'fast-check';
import { beforeAll, beforeEach, expect, test } from 'vitest';
import { createMemoryDisk, type MemoryDisk } from '../../../home/test/memory-disk.ts';
import { recordSampleRun } from './sample-run.ts';

const FILE = '/run/journal.ndjson';
let journal: Uint8Array;
let disk: MemoryDisk;

beforeAll(async () => {
  journal = (await recordSampleRun()).journal;
});

beforeEach(() => {
  disk = createMemoryDisk();
});

/** A server whose journal has these bytes, and that sends at most `limit` of them. */
const serve =
  (bytes: Uint8Array, limit = Number.POSITIVE_INFINITY) =>
  async (offset: number) =>
    bytes.subarray(offset, offset + limit);

const copy = () => Buffer.from(disk.files.get(FILE) ?? new Uint8Array()).toString();
const text = (bytes: Uint8Array) => Buffer.from(bytes).toString();
const wholeLines = (bytes: Uint8Array) => text(bytes.subarray(0, bytes.lastIndexOf(10) + 1));

test('openJournalMirror copies complete lines, whatever parts of a growing journal it receives', async () => {
  const sizes = fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { maxLength: 6 });
  await fc.assert(
    fc.asyncProperty(sizes, fc.boolean(), async (parts, reopens) => {
      disk = createMemoryDisk();
      let mirror = await openJournalMirror('/run', disk);
      for (const part of [...parts].sort((a, b) => a - b)) {
        const bytes = journal.subarray(0, Math.floor(part * journal.length));
        if (reopens) mirror = await openJournalMirror('/run', disk);
        expect(await mirror.update(serve(bytes))).toMatchObject({ ok: true });
        expect(copy()).toBe(wholeLines(bytes));
      }
    }),
    { numRuns: 50 },
  );
});

test('openJournalMirror summarizes the run, and says when it has ended', async () => {
  const mirror = await openJournalMirror('/run', disk);
  await mirror.update(serve(journal.subarray(0, journal.length - 1)));
  expect(mirror.hasEnded).toBe(false);
  expect(JSON.parse(text(disk.files.get('/run/summary.json')!))).toMatchObject({ pipeline: 'sample' });
  await mirror.update(serve(journal));
  expect(mirror.hasEnded).toBe(true);
  expect(JSON.parse(text(disk.files.get('/run/summary.json')!))).toHaveProperty('endedAt');
});

test('openJournalMirror copies a journal of the server that was rewritten from its beginning', async () => {
  const lines = text(journal).trimEnd().split('\n');
  const shorter = Buffer.from(`${lines.slice(0, 3).join('\n')}\n`);
  const other = Buffer.from(
    shorter.toString() +
      encodeLine({
        seq: 4,
        first: 1,
        epoch: 9,
        record: { kind: 'warning', at: 1, message: 'x'.repeat(journal.length) },
      }),
  );
  const mirror = await openJournalMirror('/run', disk);
  await mirror.update(serve(journal));
  await mirror.update(serve(shorter));
  expect(copy()).toBe(shorter.toString());
  await mirror.update(serve(journal));
  await mirror.update(serve(other));
  expect(copy()).toBe(other.toString());
  expect(mirror.size).toBe(other.length);
});

test('openJournalMirror removes what a crash has left of a line, and replaces a damaged copy', async () => {
  const half = journal.subarray(0, journal.length >> 1);
  await (await openJournalMirror('/run', disk)).update(serve(half));
  disk.files.set(FILE, Buffer.concat([disk.files.get(FILE)!, Buffer.from('{"crc":"0')]));
  await (await openJournalMirror('/run', disk)).update(serve(journal));
  expect(copy()).toBe(text(journal));
  const damaged = Buffer.from(journal);
  damaged[20] = 0;
  disk.files.set(FILE, damaged);
  await (await openJournalMirror('/run', disk)).update(serve(journal));
  expect(copy()).toBe(text(journal));
});

test('openJournalMirror stores nothing of a part that is damaged', async () => {
  const damaged = Buffer.from(journal);
  damaged[Math.floor(journal.length / 2)]! ^= 1;
  const mirror = await openJournalMirror('/run', disk);
  expect(await mirror.update(serve(damaged))).toMatchObject({ ok: false });
  expect(copy()).toBe('');
});
