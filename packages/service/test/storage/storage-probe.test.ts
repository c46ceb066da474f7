import { spawnSync } from 'node:child_process';
import { closeSync, constants, openSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { createStorageProbe } from '../../src/storage/storage-probe.ts';
import { temporaryDirectory } from '../volumes/temporary-directory.ts';

const THREADS = Number(process.env.UV_THREADPOOL_SIZE ?? 4);

describe('createStorageProbe', () => {
  afterEach(() => void vi.useRealTimers());

  it('does not call a storage silent while no thread can ask it', async () => {
    const directory = temporaryDirectory();
    const pipe = join(directory, 'pipe');
    spawnSync('mkfifo', [pipe]);
    // Each waits in a thread for a writer.
    const readers = Array.from({ length: THREADS }, () => open(pipe, 'r'));
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const fault = createStorageProbe(directory).fault();
    await vi.advanceTimersByTimeAsync(10_000);
    const writer = openSync(pipe, constants.O_RDWR);
    expect(await fault).toBeUndefined();
    for (const reader of await Promise.all(readers)) await reader.close();
    closeSync(writer);
  });
});
