import { chmodSync, constants, fstatSync, lstatSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isServiceError } from '@sluice/client';
import fc from 'fast-check';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { LOCAL_STORAGE } from '../../src/storage/storage-access.ts';
import { storagePaths } from '../../src/storage/storage-paths.ts';
import { openChargedFile } from '../../src/volumes/files/charged-file.ts';
import { type ConfinedTree, openConfinedTree } from '../../src/volumes/files/confined-tree.ts';
import { createDirectFiles } from '../../src/volumes/files/direct-files.ts';
import { createVolumeUsage } from '../../src/volumes/volume-usage.ts';
import { passFileTime } from './pass-file-time.ts';
import { temporaryDirectory } from './temporary-directory.ts';

const BLOCK = 4096;

function openUsage(maximum?: number) {
  const storage = temporaryDirectory();
  const root = storagePaths.volume(storage, 'mine', 'v');
  mkdirSync(root, { recursive: true });
  const usage = createVolumeUsage({ storage, access: LOCAL_STORAGE, limitOf: () => maximum });
  const space = usage.spaceOf('mine');
  return { root, usage, space, files: createDirectFiles(root, { space }), tree: openConfinedTree(root, { space }) };
}

function bytesIn(directory: string): number {
  const names = readdirSync(directory, { recursive: true, encoding: 'utf8' });
  const all = names.map((name) => lstatSync(join(directory, name))).filter((stats) => !stats.isDirectory());
  return [...new Map(all.map(({ ino, blocks }) => [ino, blocks * 512])).values()].reduce(
    (sum, bytes) => sum + bytes,
    0,
  );
}

describe('createVolumeUsage', () => {
  it('keeps what is stored during a measurement', async () => {
    const { root, usage, files } = openUsage();
    const measurement = usage.measure('mine');
    await files.write('before', Buffer.alloc(10 * BLOCK, 1));
    await measurement;
    const during = usage.known('mine')!;
    expect(during).toBeGreaterThanOrEqual(bytesIn(root));
    // It may count twice until the next measurement.
    expect(during).toBeLessThanOrEqual(2 * bytesIn(root));
    usage.expire('mine');
    expect(await usage.measure('mine')).toBe(bytesIn(root));
  });

  it('measures a file again that a container has written, although the timer fires early', async () => {
    const { root, usage, files } = openUsage(100 * BLOCK);
    const setTimer = globalThis.setTimeout;
    const early = (call: () => void, ms = 0) => setTimer(call, Math.max(0, ms - 2));
    const spy = vi.spyOn(globalThis, 'setTimeout').mockImplementation(early as typeof setTimeout);
    onTestFinished(() => spy.mockRestore());
    await usage.measure('mine');
    await files.write('a', Buffer.alloc(10 * BLOCK, 1));
    usage.expire('mine');
    const begun = Date.now();
    const measurement = usage.measure('mine');
    // Times of files are a few milliseconds behind.
    do writeFileSync(join(root, 'a'), Buffer.alloc(30 * BLOCK, 1));
    while (lstatSync(join(root, 'a')).ctimeMs < begun + 2);
    await measurement;
    await files.remove('a');
    await expect.poll(() => usage.known('mine')).toBe(0);
  });

  it('counts a file that grows during a measurement once, when it is complete', async () => {
    const { root, usage, tree } = openUsage();
    const file = openChargedFile(tree, { path: 'a', flags: constants.O_WRONLY | constants.O_CREAT });
    await file.write([Buffer.alloc(10 * BLOCK, 1)]);
    expect(await usage.measure('mine')).toBe(0);
    await file.close();
    expect(usage.known('mine')).toBe(10 * BLOCK);
    expect(bytesIn(root)).toBe(10 * BLOCK);
  });

  const changes: Readonly<Record<string, (tree: ConfinedTree) => void>> = {
    'replacing rename': (tree) => tree.rename('a', 'b'),
    rename: (tree) => tree.renameNew('a', 'b'),
    'hard link': (tree) => {
      tree.link('a', 'b');
      tree.unlink('a');
    },
    'change of attributes': (tree) => {
      tree.inNode('a', (node) => chmodSync(node, 0o600));
      tree.renameNew('a', 'b');
    },
  };
  it.for(Object.entries(changes))('frees at once what it has measured, also after a %s', async ([, run]) => {
    const { root, usage, files, tree } = openUsage(100 * BLOCK);
    await files.write('a', Buffer.alloc(10 * BLOCK, 1));
    await passFileTime(root);
    usage.expire('mine');
    expect(await usage.measure('mine')).toBe(10 * BLOCK);
    await passFileTime(root);
    run(tree);
    tree.unlink('b');
    expect(usage.known('mine')).toBe(0);
  });

  const name = fc.constantFrom('a', 'b', 'd/a', 'd/e/b');
  const operation = fc.oneof(
    fc.record({ kind: fc.constant('write' as const), to: name, blocks: fc.nat({ max: 20 }) }),
    fc.record({ kind: fc.constant('patch' as const), to: name, blocks: fc.nat({ max: 20 }), at: fc.nat({ max: 15 }) }),
    fc.record({ kind: fc.constant('truncate' as const), to: name, blocks: fc.nat({ max: 20 }) }),
    ...(['copy', 'move', 'replace', 'link', 'symlink'] as const).map((kind) =>
      fc.record({ kind: fc.constant(kind), from: name, to: name }),
    ),
    fc.record({ kind: fc.constant('remove' as const), to: fc.oneof(name, fc.constant('d')) }),
  );
  type Operation = typeof operation extends fc.Arbitrary<infer Value> ? Value : never;

  async function change(tree: ConfinedTree, one: Extract<Operation, { kind: 'patch' | 'truncate' }>): Promise<void> {
    const file = openChargedFile(tree, { path: one.to, flags: constants.O_WRONLY | constants.O_CREAT });
    try {
      if (one.kind === 'truncate') await file.truncate(one.blocks * BLOCK);
      // Without a hole: what is written into a file with holes counts as new until the next measurement.
      else if (fstatSync(file.file).size >= one.at * BLOCK)
        await file.write([Buffer.alloc(one.blocks * BLOCK, 1)], one.at * BLOCK);
    } finally {
      await file.close();
    }
  }

  /** Rejections by the file system or the quota leave nothing to count. */
  async function perform({ files, tree }: ReturnType<typeof openUsage>, one: Operation): Promise<void> {
    try {
      if (one.kind === 'write') await files.write(one.to, Buffer.alloc(one.blocks * BLOCK, 1));
      else if (one.kind === 'patch' || one.kind === 'truncate') await change(tree, one);
      else if (one.kind === 'copy') await files.copy(one.from, one.to);
      else if (one.kind === 'move') await files.move(one.from, one.to);
      else if (one.kind === 'replace') tree.rename(one.from, one.to);
      else if (one.kind === 'link') tree.link(one.from, one.to);
      else if (one.kind === 'symlink') tree.symlink('x'.repeat(100), one.to);
      else await files.remove(one.to);
    } catch (error) {
      if (!isServiceError(error) && !(error as { code?: unknown }).code) throw error;
    }
  }

  it('counts what any sequence of operations has stored, and never more than the quota', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(operation, { maxLength: 40 }), async (operations) => {
        const maximum = 60 * BLOCK;
        const opened = openUsage(maximum);
        const { root, usage } = opened;
        await usage.measure('mine');
        let grown = false;
        for (const one of operations) {
          grown ||= one.kind === 'truncate';
          await perform(opened, one);
          // A truncated file may have holes.
          if (!grown) expect(usage.known('mine')).toBe(bytesIn(root));
          expect(usage.known('mine')).toBeGreaterThanOrEqual(bytesIn(root));
          expect(bytesIn(root)).toBeLessThanOrEqual(maximum);
        }
        usage.expire('mine');
        expect(await usage.measure('mine')).toBe(bytesIn(root));
      }),
      { numRuns: process.env.SLUICE_SOAK === 'true' ? 500 : 60 },
    );
  });

  it('never counts less than what concurrent operations have stored', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(operation, { maxLength: 40 }), async (operations) => {
        const opened = openUsage();
        const { root, usage } = opened;
        await usage.measure('mine');
        await Promise.all(
          operations.map(async (one, index) => {
            if (index % 5 === 0) usage.expire('mine');
            await Promise.all([perform(opened, one), usage.measure('mine')]);
          }),
        );
        expect(usage.known('mine')).toBeGreaterThanOrEqual(bytesIn(root));
        usage.expire('mine');
        expect(await usage.measure('mine')).toBe(bytesIn(root));
      }),
      { numRuns: process.env.SLUICE_SOAK === 'true' ? 300 : 40 },
    );
  });
});
