import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { FileEntry } from '@sluice/client';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { deliverFile } from '../../src/trees/deliver-file.ts';

let base: string;
let target: string;
beforeEach(() => {
  base = mkdtempSync(path.join(tmpdir(), 'sluice-deliver-'));
  target = path.join(base, 'below', 'model.bin');
});
afterEach(() => rmSync(base, { recursive: true, force: true }));

/** Delivers a file with this text, whose listed size may be wrong. `onRead` is called before the first byte. */
function deliver(text: string, { entry = {}, onRead }: { entry?: Partial<FileEntry>; onRead?: () => void } = {}) {
  const read = async () =>
    (async function* () {
      onRead?.();
      yield Buffer.from(text);
    })();
  const listed: FileEntry = { path: 'out/model.bin', kind: 'file', size: text.length, modifiedAt: 0, ...entry };
  return deliverFile({ volume: { read }, entry: listed, to: target, now: Date.UTC(2026, 0, 1) });
}

const REFUSED = { ok: false, error: expect.stringContaining('something else exists there') };

describe('deliverFile', () => {
  test('creates the file and its directory, keeps the executable bit, and accepts the same content again', async () => {
    expect(await deliver('abc', { entry: { executable: true } })).toEqual({ ok: true, value: [] });
    expect(readFileSync(target, 'utf8')).toBe('abc');
    expect(statSync(target).mode & 0o100).not.toBe(0);
    expect(await deliver('abc')).toEqual({ ok: true, value: [] });
    expect(readdirSync(path.dirname(target))).toEqual(['model.bin']);
  });

  test.each(['abd', 'longer'])('does not replace a file with other content: %s', async (text) => {
    await deliver('abc');
    expect(await deliver(text)).toEqual(REFUSED);
    expect(readFileSync(target, 'utf8')).toBe('abc');
    expect(readdirSync(path.dirname(target))).toEqual(['model.bin']);
  });

  test('does not replace a directory and what a link leads to', async () => {
    target = base;
    expect(await deliver('abc')).toEqual(REFUSED);
    writeFileSync(path.join(base, 'mine'), 'mine');
    target = path.join(base, 'link');
    symlinkSync('mine', target);
    expect(await deliver('abc')).toEqual(REFUSED);
    expect(readFileSync(path.join(base, 'mine'), 'utf8')).toBe('mine');
  });

  test('does not replace a file that appears during the copy', async () => {
    expect(await deliver('abc', { onRead: () => writeFileSync(target, 'xyz') })).toEqual(REFUSED);
    expect(readFileSync(target, 'utf8')).toBe('xyz');
    expect(readdirSync(path.dirname(target))).toEqual(['model.bin']);
  });

  test.each([2, 4])('leaves nothing if the size differs from the listed one: %i', async (size) => {
    await expect(deliver('abc', { entry: { size } })).rejects.toMatchObject({ code: 'NO_REPLY' });
    expect(readdirSync(path.dirname(target))).toEqual([]);
  });
});
