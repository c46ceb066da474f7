import { mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createRecord, readRecord, recordPath, withdrawRecord } from '../../../src/engines/docker/docker-records.ts';
import type { Launch } from '../../../src/engines/engine.ts';

describe('readRecord', () => {
  let directory: string;
  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'sluice-record-'));
  });
  afterAll(() => rm(directory, { recursive: true }));

  it('gives nothing where there is no first process', async () => {
    expect(await readRecord(directory)).toBeUndefined();
  });

  it('reads a fresh one, which any user of an image may write', async () => {
    await createRecord({ directory, logPath: join(directory, 'log') } as Launch);
    expect((await stat(recordPath(directory))).mode & 0o777).toBe(0o666);
    expect(await readRecord(directory)).toEqual({ startedAt: undefined, exit: undefined });
    await withdrawRecord(directory);
    expect(await readRecord(directory)).toBeUndefined();
  });

  it.each([
    ['started 5\n', { startedAt: 5, exit: undefined }],
    ['started 5\nexited 3 0 0 5 9', { startedAt: 5, exit: undefined }],
    [
      'started 5\nexited 3 0 0 5 9\n',
      { startedAt: 5, exit: { startedAt: 5, endedAt: 9, end: { kind: 'exited', exitCode: 3 } } },
    ],
    [
      'rejected 9 no such thing\n',
      { startedAt: undefined, exit: { endedAt: 9, end: { kind: 'rejected', reason: 'no such thing' } } },
    ],
  ])('reads %j', async (text, record) => {
    await writeFile(recordPath(directory), text);
    expect(await readRecord(directory)).toMatchObject(record);
  });

  it('calls it a fault when a container has written there, and reads no more than a first process writes', async () => {
    await writeFile(recordPath(directory), `started 5\nhello\n${'x'.repeat(100_000)}`);
    expect(await readRecord(directory)).toMatchObject({ startedAt: 5, exit: { end: { kind: 'fault' } } });
  });
});
