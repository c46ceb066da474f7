import { expect, test } from 'vitest';
import { findRunId } from '../../src/runs/find-run-id.ts';
import { createMemoryDisk } from '../memory-disk.ts';

const RUN = 'abcdefghijklm';

function createHome() {
  const disk = createMemoryDisk();
  for (const runId of [RUN, 'abcdefghijkln']) disk.files.set(`/home/runs/${runId}/plan.json`, Buffer.from('{}'));
  return disk;
}

test('findRunId lists the runs of a home only for a shortened ID', async () => {
  const disk = createHome();
  const lists: string[] = [];
  const counting = {
    ...disk,
    list(directory: string) {
      lists.push(directory);
      return disk.list(directory);
    },
  };
  expect(await findRunId(counting, '/home', RUN)).toEqual({ ok: true, value: RUN });
  expect(lists).not.toContain('/home/runs');
  expect(await findRunId(counting, '/home', RUN.slice(0, 12))).toMatchObject({ ok: false });
  expect(await findRunId(counting, '/home', 'abcdefghijkln'.slice(0, 13))).toMatchObject({ ok: true });
  expect(lists).toContain('/home/runs');
});

test('findRunId does not find a whole ID that the home does not have', async () => {
  expect(await findRunId(createHome(), '/home', 'zzzzzzzzzzzzz')).toMatchObject({
    ok: false,
    error: { code: 'RUN_NOT_FOUND' },
  });
});
