import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { LOCAL_ENGINE } from '../../src/connect/embedded-engine.ts';
import { checkSameOptions, recordOptions } from '../../src/connect/engine-options.ts';

let root: string;

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'sluice-options-'));
});

afterEach(() => rmSync(root, { recursive: true, force: true }));

const slurm = (options: Record<string, unknown>) => ({ name: 'slurm', options }) as const;

test('checkSameOptions accepts the recorded options in any order, and rejects others', async () => {
  await recordOptions(root, slurm({ partition: 'main', exclusive: true }));
  await checkSameOptions(root, slurm({ exclusive: true, partition: 'main' }));
  await expect(checkSameOptions(root, slurm({ partition: 'gpu' }))).rejects.toThrow(
    'another process runs it with other options of the engine slurm: {"partition":"main","exclusive":true}, and not {"partition":"gpu"}',
  );
});

test('recordOptions writes nothing for the engine of this machine, which has none', async () => {
  await recordOptions(root, LOCAL_ENGINE);
  await checkSameOptions(root, LOCAL_ENGINE);
  expect(readdirSync(root)).toEqual([]);
});
