import { mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { JournalRecord } from '@sluice/run';
import { describe, expect, onTestFinished, test } from 'vitest';
import { createSystemClock } from '../../src/clock.ts';
import { createJournal } from '../../src/journal/journal.ts';
import { JournalFailure } from '../../src/journal/journal-failure.ts';
import { OTHER_LEASE } from '../../src/journal/lease.ts';
import { encodeLine } from '../../src/journal/line-codec.ts';
import { openJournal } from '../../src/journal/open-journal.ts';
import { parseJournal } from '../../src/journal/parse-journal.ts';
import { createSystemDisk } from '../../src/journal/system-disk.ts';
import { createMemoryDisk } from '../memory-disk.ts';

const tick = (at: number): JournalRecord => ({ kind: 'event', event: { type: 'tick', at } });
const encode = (line: Parameters<typeof encodeLine>[0]) => Buffer.from(encodeLine(line));
const line = (seq: number, first: number, epoch = 1) => encode({ seq, first, epoch, record: tick(seq) });
const read = (...lines: Uint8Array[]) => parseJournal(Buffer.concat(lines));
const ticks = (content: ReturnType<typeof read>) =>
  content.ok
    ? content.value.records.map((record) => (record.kind === 'event' ? record.event : undefined))
    : content.error;
const times = (content: ReturnType<typeof read>) =>
  content.ok
    ? content.value.records.map((record) => (record.kind === 'event' && 'at' in record.event ? record.event.at : 0))
    : [];

async function temporaryDirectory(): Promise<string> {
  const directory = await mkdtemp(path.join(tmpdir(), 'sluice-journal-'));
  onTestFinished(() => rm(directory, { recursive: true, force: true }));
  return directory;
}

const reject = () => undefined;

describe('parseJournal', () => {
  test('leaves out a last record torn at any byte', () => {
    const whole = [line(1, 1), line(2, 2)];
    const last = line(3, 3);
    for (let length = 0; length < last.length; length++) {
      const content = read(...whole, last.subarray(0, length));
      expect(times(content)).toEqual([1, 2]);
      expect(content.ok && content.value.size).toBe(whole[0]!.length + whole[1]!.length);
    }
    expect(times(read(...whole, last))).toEqual([1, 2, 3]);
  });

  test('leaves out a whole group that was torn in its middle', () => {
    const torn = line(3, 3).fill(0, 4, 20);
    expect(times(read(line(1, 1), line(2, 2), torn, line(4, 3)))).toEqual([1, 2]);
  });

  test('rejects damage at any byte of a record that a later one shows to have been durable', () => {
    const middle = line(2, 2);
    for (let at = 0; at < middle.length; at++) {
      const damaged = Buffer.from(middle);
      damaged[at] = damaged[at]! ^ 1;
      const content = read(line(1, 1), damaged, line(3, 3));
      expect(content, `byte ${at}`).toMatchObject({ ok: false });
    }
  });

  test.each([
    [3, 'it was written by a newer version of sluice (format 3, and this one knows 2)'],
    [
      1,
      'it was written by an earlier version of sluice (format 1, and this one reads only 2); use that version for the run, or remove its directory',
    ],
    [undefined, 'its first record has no format'],
  ])('rejects a journal of format %s', (format, message) => {
    const header = { kind: 'run', format } as unknown as JournalRecord;
    const content = read(encode({ seq: 1, first: 1, epoch: 1, record: header }), line(2, 2));
    expect(ticks(content)).toBe(message);
  });

  test('names the place of the damage', () => {
    const damaged = line(2, 2).fill(0);
    expect(ticks(read(line(1, 1), damaged, line(3, 3)))).toMatch(/^record 2 at byte \d+ is damaged, although record 3/);
  });

  test('drops what an older runner wrote after a newer one had opened', () => {
    expect(times(read(line(1, 1), line(2, 2), line(3, 3, 2), line(3, 3), line(4, 4, 2)))).toEqual([1, 2, 3, 4]);
    // The newer one had read only record 1 when the older one still wrote record 2.
    expect(times(read(line(1, 1), line(2, 2), line(2, 2, 2), line(3, 3, 2)))).toEqual([1, 2, 3]);
  });
});

describe('createJournal', () => {
  test('makes everything that comes during a sync durable with the next one', async () => {
    const synced: (() => void)[] = [];
    const written: number[] = [];
    const file = {
      write: (bytes: Uint8Array) => void written.push(Buffer.from(bytes).toString().split('\n').length - 1),
      sync: () => new Promise<void>((resolve) => synced.push(resolve)),
      close: async () => {},
    };
    const journal = createJournal(file, { seq: 0, epoch: 1, findLoss: () => undefined });
    journal.append(tick(1));
    const first = journal.commit();
    for (let at = 2; at <= 5; at++) journal.append(tick(at));
    const second = journal.commit();
    synced.shift()!();
    await first;
    expect(written).toEqual([1, 4]);
    synced.shift()!();
    await second;
  });

  test('writes records at once that no caller waits for, and counts them as durable only after the next sync', async () => {
    const disk = createMemoryDisk();
    const journal = createJournal(await disk.append('/j', 0), { seq: 0, epoch: 1, findLoss: () => undefined });
    const firsts = () => {
      const lines = Buffer.from(disk.files.get('/j')!).toString().trimEnd().split('\n');
      return lines.map((text) => (JSON.parse(text) as { first: number }).first);
    };
    journal.append(tick(1));
    journal.append(tick(2));
    await journal.write();
    journal.append(tick(3));
    await journal.write();
    expect(firsts()).toEqual([1, 1, 1]);
    expect(disk.durable('/j')).toHaveLength(0);
    await journal.commit();
    expect(disk.durable('/j')).toHaveLength(disk.files.get('/j')!.length);
    journal.append(tick(4));
    await journal.commit();
    expect(firsts()).toEqual([1, 1, 1, 4]);
  });

  test('writes what comes during a sync after it, and syncs it only for those who wait', async () => {
    const synced: (() => void)[] = [];
    let written = 0;
    const file = {
      write(bytes: Uint8Array) {
        if (bytes.length > 0) written++;
      },
      sync: () => new Promise<void>((resolve) => synced.push(resolve)),
      close: async () => {},
    };
    const journal = createJournal(file, { seq: 0, epoch: 1, findLoss: () => undefined });
    journal.append(tick(1));
    const first = journal.commit();
    journal.append(tick(2));
    const second = journal.write();
    expect(written).toBe(1);
    synced.shift()!();
    await first;
    await second;
    expect([written, synced.length]).toEqual([2, 0]);
    const third = journal.commit();
    synced.shift()!();
    await third;
    expect(written).toBe(2);
  });

  test('never tries again after a sync has failed', async () => {
    let syncs = 0;
    const file = {
      write: () => {},
      sync: () => {
        syncs++;
        return Promise.reject(Object.assign(new Error('input/output error'), { code: 'EIO' }));
      },
      close: async () => {},
    };
    const journal = createJournal(file, { seq: 0, epoch: 1, findLoss: () => undefined });
    journal.append(tick(1));
    await expect(journal.commit()).rejects.toMatchObject({ code: 'SYNC_FAILED' });
    journal.append(tick(2));
    await expect(journal.commit()).rejects.toBeInstanceOf(JournalFailure);
    expect(syncs).toBe(1);
  });

  test('says that the disk is full', async () => {
    const disk = createMemoryDisk();
    disk.room = 10;
    const journal = createJournal(await disk.append('/j', 0), { seq: 0, epoch: 1, findLoss: () => undefined });
    journal.append(tick(1));
    await expect(journal.commit()).rejects.toMatchObject({ code: 'DISK_FULL' });
  });
});

describe('openJournal', () => {
  const clock = createSystemClock();

  test('lets only one process have a run, and the next one after it', async () => {
    const directory = await temporaryDirectory();
    const disk = createSystemDisk();
    const first = await openJournal(directory, { disk, clock, reject });
    if (!first.ok) throw new Error(first.error.message);
    const second = await openJournal(directory, { disk, clock, reject });
    expect(second).toMatchObject({ ok: false, error: { code: 'RUN_IN_USE' } });
    expect(!second.ok && second.error.message).toContain(`process ${process.pid}`);
    await first.value.release();
    const third = await openJournal(directory, { disk, clock, reject });
    if (!third.ok) throw new Error(third.error.message);
    expect(third.value.lease.epoch).toBe(2);
    await third.value.release();
  });

  test('stops a writer whose run was removed, and says so', async () => {
    const disk = createMemoryDisk();
    const opened = await openJournal('/home/runs/r', { disk, clock, reject });
    if (!opened.ok) throw new Error(opened.error.message);
    expect(opened.value.findLoss()).toBeUndefined();
    await disk.remove('/home');
    expect(opened.value.findLoss()).toContain('/home/runs/r was removed, so the run cannot be continued');
    opened.value.journal.append(tick(1));
    await expect(opened.value.journal.commit()).rejects.toMatchObject({
      message: expect.stringContaining('could not write the journal: /home/runs/r was removed'),
    });
  });

  test('stops an older writer where locks do not work', async () => {
    const disk = createMemoryDisk();
    disk.locksWork = false;
    const first = await openJournal('/run', { disk, clock, reject });
    const second = await openJournal('/run', { disk, clock, reject });
    if (!first.ok || !second.ok) throw new Error('both must open');
    first.value.journal.append(tick(1));
    await expect(first.value.journal.commit()).rejects.toMatchObject({ code: 'SUPERSEDED' });
    second.value.journal.append(tick(2));
    await second.value.journal.commit();
    const bytes = disk.files.get('/run/journal.ndjson')!;
    expect(times(parseJournal(bytes))).toContain(2);
  });

  test('asks again whether the journal can be used if an older writer has changed it meanwhile', async () => {
    const disk = createMemoryDisk();
    disk.locksWork = false;
    const first = await openJournal('/run', { disk, clock, reject });
    if (!first.ok) throw new Error(first.error.message);
    await first.value.journal.commit();
    const seen: number[] = [];
    const second = await openJournal('/run', {
      ...{ disk, clock },
      async reject({ records }) {
        if (seen.push(records.length) > 1) return { code: 'TAKEN', message: 'the older writer was faster' };
        first.value.journal.append(tick(1));
        await first.value.journal.commit();
        return undefined;
      },
    });
    expect(second).toMatchObject({ ok: false, error: { code: 'TAKEN' } });
    expect(seen).toEqual([1, 2]);
    expect(times(parseJournal(disk.files.get('/run/journal.ndjson')!))).toEqual([0, 1]);
  });

  test('cuts a torn end off and keeps it aside', async () => {
    const disk = createMemoryDisk();
    disk.files.set('/run/journal.ndjson', Buffer.concat([line(1, 1), line(2, 2).subarray(0, 20)]));
    const opened = await openJournal('/run', { disk, clock, reject });
    if (!opened.ok) throw new Error(opened.error.message);
    await opened.value.release();
    expect(disk.files.get('/run/journal.torn-2')).toHaveLength(20);
    const content = parseJournal(disk.files.get('/run/journal.ndjson')!);
    expect(content).toMatchObject({ ok: true, value: { seq: 2, epoch: 2 } });
  });

  test('answers only who knows the secret of the lease', async () => {
    const directory = await temporaryDirectory();
    const disk = createSystemDisk();
    const opened = await openJournal(directory, { disk, clock, reject, control: (request) => `heard ${request}` });
    if (!opened.ok) throw new Error(opened.error.message);
    expect(await disk.ask(directory, `${opened.value.lease.control} hello`)).toBe('heard hello');
    expect(await disk.ask(directory, 'guess hello')).toBe(OTHER_LEASE);
    await opened.value.release();
    expect(await disk.ask(directory, 'anyone')).toBeUndefined();
    expect((await stat(path.join(directory, 'lease.json'))).mode & 0o077).toBe(0);
  });

  test('answers who knows the last lease while the journal is being read', async () => {
    const directory = await temporaryDirectory();
    const disk = createSystemDisk();
    const first = await openJournal(directory, { disk, clock, reject });
    if (!first.ok) throw new Error(first.error.message);
    await first.value.release();
    const answers: (string | undefined)[] = [];
    const second = await openJournal(directory, {
      ...{ disk, clock, control: () => 'not yet' },
      async reject() {
        answers.push(await disk.ask(directory, `${first.value.lease.control} cancel`));
        return undefined;
      },
    });
    if (!second.ok) throw new Error(second.error.message);
    answers.push(await disk.ask(directory, `${first.value.lease.control} cancel`));
    expect(answers).toEqual(['not yet', OTHER_LEASE]);
    await second.value.release();
  });
});
