import type { VolumeFiles } from '@sluice/client';
import { describe, expect, test } from 'vitest';
import { findUnmatched } from '../../src/data/find-unmatched.ts';

/** An output that has these files. */
function filesOf(names: readonly string[]): VolumeFiles {
  const files: Pick<VolumeFiles, 'stat' | 'list'> = {
    stat: async (path) => ({ path, kind: 'dir' }) as Awaited<ReturnType<VolumeFiles['stat']>>,
    list: async (path) =>
      names.map((name) => ({ path: `${path}/${name}`, kind: 'file', size: 1 })) as unknown as Awaited<
        ReturnType<VolumeFiles['list']>
      >,
  };
  return files as VolumeFiles;
}

async function find(names: readonly string[], expected: readonly string[]) {
  let deferrals = 0;
  const found = await findUnmatched(filesOf(names), {
    outputs: { data: { path: '/data', retain: false, expect: expected } },
    locate: (output) => output,
    defer(callback) {
      deferrals++;
      callback();
    },
  });
  return { found, deferrals };
}

const describeMissing = (pattern: string) =>
  `output data (/data): no file matches the expected pattern ${JSON.stringify(pattern)}`;

describe('findUnmatched', () => {
  test('ends for a pattern that takes exponential time if one possibility is tried after the other', async () => {
    const pattern = `${'*a'.repeat(90)}*b`;
    const { found } = await find(['a'.repeat(255)], [pattern]);
    expect(found).toBe(describeMissing(pattern));
  });

  test('lets other work continue while it matches many patterns', async () => {
    const patterns = Array.from({ length: 10 }, (_, at) => `${'*a'.repeat(90)}${at}`);
    const { found, deferrals } = await find(
      Array.from({ length: 5 }, (_, at) => `${'a'.repeat(240)}-${at}`),
      patterns,
    );
    expect(found).toBe(describeMissing(patterns[0]!));
    expect(deferrals).toBeGreaterThan(5);
  });

  test('continues at once with few files', async () => {
    expect(await find(['a.bin', 'log.txt'], ['*.bin', '*.{txt,md}'])).toEqual({ found: undefined, deferrals: 0 });
  });
});
