import { existsSync, mkdtempSync, readdirSync, rmSync, statfsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { keepReserve } from '../../packages/cli/src/home/disk-reserve.ts';
import { mountSmallDisk, type SmallDisk } from '../../packages/service/test/store/small-disk.ts';

/** Only root can mount one; the tests are skipped for others. */
const canMount = process.geteuid?.() === 0 || process.env.CI === 'true';
const PATIENCE = { timeout: 120_000 };

describe.skipIf(!canMount)('keepReserve', () => {
  let disk: SmallDisk;
  let drop = () => {};
  const open = (options: string) => {
    disk = mountSmallDisk(options)!;
  };
  beforeEach(() => {
    drop = () => {};
  });
  afterEach(() => {
    drop();
    disk.unmount();
  });

  const bytes = () => join(disk.path, 'reserve');
  const inodes = () => join(disk.path, 'reserve-inodes');
  const freeInodes = () => statfsSync(disk.path).ffree;

  test('holds bytes and inodes when it resolves, and releases only what the disk has none left of', async () => {
    open('16m,nr_inodes=2000');
    drop = await keepReserve(disk.path);
    expect(existsSync(bytes())).toBe(true);
    expect(readdirSync(inodes())).toHaveLength(64);
    disk.fillInodes();
    await vi.waitUntil(() => !existsSync(inodes()), PATIENCE);
    expect(freeInodes()).toBe(65);
    expect(existsSync(bytes())).toBe(true);
    disk.empty();
    await vi.waitUntil(() => existsSync(inodes()) && readdirSync(inodes()).length === 64, PATIENCE);
    disk.fill();
    await vi.waitUntil(() => !existsSync(bytes()), PATIENCE);
    expect(readdirSync(inodes())).toHaveLength(64);
  });

  test('releases at once what an earlier process has held', async () => {
    open('16m,nr_inodes=2000');
    (await keepReserve(disk.path))();
    disk.fillInodes();
    expect(freeInodes()).toBe(0);
    drop = await keepReserve(disk.path);
    expect(freeInodes()).toBe(65);
  });

  test('adds what a process that was killed had not created yet', async () => {
    open('16m,nr_inodes=2000');
    (await keepReserve(disk.path))();
    for (const name of ['1', '7', '64']) rmSync(join(inodes(), name));
    drop = await keepReserve(disk.path);
    expect(readdirSync(inodes())).toHaveLength(64);
  });

  test('takes nothing of a disk with few free inodes, or without a limit of them', async () => {
    open('16m,nr_inodes=200');
    (await keepReserve(disk.path))();
    expect(readdirSync(disk.path)).toEqual(['reserve']);
    disk.unmount();
    open('16m,nr_inodes=0');
    drop = await keepReserve(disk.path);
    expect(readdirSync(disk.path)).toEqual(['reserve']);
  });
});

test('keepReserve leaves a home alone that does not exist', async () => {
  const parent = mkdtempSync(join(tmpdir(), 'sluice-reserve-'));
  try {
    (await keepReserve(join(parent, 'home')))();
    expect(readdirSync(parent)).toEqual([]);
  } finally {
    rmSync(parent, { recursive: true });
  }
});
