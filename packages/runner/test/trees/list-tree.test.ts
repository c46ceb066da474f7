import type { FileEntry } from '@sluice/client';
import { describe, expect, test } from 'vitest';
import { listTree } from '../../src/trees/list-tree.ts';

const dir = (path: string): FileEntry => ({ path, kind: 'dir', size: 0, modifiedAt: 0 });

describe('listTree', () => {
  test('leaves a directory that has no end below', async () => {
    let lists = 0;
    const list = async (path: string) => {
      lists += 1;
      return [dir(`${path}/d`)];
    };
    await expect(listTree({ list }, 'out')).rejects.toMatchObject({ code: 'INVALID_REPLY' });
    expect(lists).toBeLessThan(1_000);
  });

  test('leaves paths that are longer than any', async () => {
    const list = async (path: string) => [dir(`${path}/${'n'.repeat(1_000)}`)];
    await expect(listTree({ list }, 'out')).rejects.toMatchObject({ code: 'INVALID_REPLY' });
  });

  test('walks through no link', async () => {
    const list = async (path: string) => [{ ...dir(`${path}/again`), link: '.' }];
    expect(await listTree({ list }, 'out')).toMatchObject({ directories: [], bytes: 0, files: [{ link: '.' }] });
  });
});
