import { mkdirSync, readdirSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isServiceError } from '@sluice/client';
import { describe, expect, test } from 'vitest';
import { openConfinedTree } from '../../../src/volumes/files/confined-tree.ts';
import { ensureSubPath } from '../../../src/volumes/files/sub-path.ts';
import { temporaryDirectory } from '../temporary-directory.ts';

function codeOf(call: () => unknown): string {
  try {
    call();
  } catch (error) {
    return isServiceError(error) ? error.code : `not a ServiceError: ${error}`;
  }
  return 'none';
}

describe('ensureSubPath', () => {
  test('makes directories and files with what is above them, and keeps what is there', () => {
    const root = temporaryDirectory();
    expect(ensureSubPath(openConfinedTree(root), 'runs/r1/step', 'dir')).toBe('dir');
    expect(ensureSubPath(openConfinedTree(root), 'runs/r1/step', 'dir')).toBe('dir');
    expect(ensureSubPath(openConfinedTree(root), 'etc/app.conf', 'file')).toBe('file');
    writeFileSync(join(root, 'etc/app.conf'), 'kept');
    expect(ensureSubPath(openConfinedTree(root), 'etc/app.conf', 'file')).toBe('file');
    expect(statSync(join(root, 'etc/app.conf')).size).toBe(4);
    expect(ensureSubPath(openConfinedTree(root), '', 'dir')).toBe('dir');
  });

  test('without a kind says what is there, and makes nothing', () => {
    const root = temporaryDirectory();
    mkdirSync(join(root, 'd'));
    writeFileSync(join(root, 'f'), '');
    expect(ensureSubPath(openConfinedTree(root), 'd')).toBe('dir');
    expect(ensureSubPath(openConfinedTree(root), 'f')).toBe('file');
    expect(ensureSubPath(openConfinedTree(root), '')).toBe('dir');
    expect(codeOf(() => ensureSubPath(openConfinedTree(root), 'absent'))).toBe('NOT_FOUND');
    expect(readdirSync(root)).toEqual(['d', 'f']);
  });

  test('rejects another kind than is there', () => {
    const root = temporaryDirectory();
    mkdirSync(join(root, 'd'));
    writeFileSync(join(root, 'f'), '');
    expect(codeOf(() => ensureSubPath(openConfinedTree(root), 'd', 'file'))).toBe('INVALID_ARGUMENT');
    expect(codeOf(() => ensureSubPath(openConfinedTree(root), 'f', 'dir'))).toBe('INVALID_ARGUMENT');
    expect(codeOf(() => ensureSubPath(openConfinedTree(root), 'f/below', 'dir'))).toBe('INVALID_ARGUMENT');
  });

  test.each(['inside', 'outward'])('rejects the %s symlink in any segment, for either kind and none', (name) => {
    const directory = temporaryDirectory();
    const root = join(directory, 'volume');
    mkdirSync(join(root, 'd/e'), { recursive: true });
    mkdirSync(join(directory, 'outside'));
    symlinkSync('d', join(root, 'inside'));
    symlinkSync('../outside', join(root, 'outward'));
    for (const path of [name, `${name}/e`, `${name}/new/deep`]) {
      for (const kind of ['dir', 'file', undefined] as const) {
        const code = codeOf(() => ensureSubPath(openConfinedTree(root), path, kind));
        expect([path, kind, code]).toEqual([path, kind, 'INVALID_ARGUMENT']);
      }
    }
    expect(readdirSync(join(directory, 'outside'))).toEqual([]);
    expect(readdirSync(join(root, 'd'))).toEqual(['e']);
  });

  test.each(['/etc', '../x', 'a/../b', 'a//b', 'a\0b', '.'])('rejects %j', (path) => {
    const root = temporaryDirectory();
    expect(codeOf(() => ensureSubPath(openConfinedTree(root), path, 'dir'))).toBe('INVALID_ARGUMENT');
  });
});
