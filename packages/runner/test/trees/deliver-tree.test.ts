import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { FileEntry, VolumeFiles } from '@sluice/client';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type DeliverOptions, deliverTree } from '../../src/trees/deliver-tree.ts';
import { RESULT_MARKER, readMarker } from '../../src/trees/result-marker.ts';
import { createMemoryFiles, createMemoryVolume, writeFile } from '../simulation/memory-files.ts';

let base: string;
let target: string;
beforeEach(() => {
  base = mkdtempSync(path.join(tmpdir(), 'sluice-deliver-'));
  target = path.join(base, 'results');
});
afterEach(() => rmSync(base, { recursive: true, force: true }));

/** A volume whose directory `out` has these files. */
function volumeOf(files: Readonly<Record<string, string>>): VolumeFiles {
  const volume = createMemoryVolume();
  volume.directories.add('out');
  for (const [name, text] of Object.entries(files)) writeFile(volume, `out/${name}`, Buffer.from(text));
  return createMemoryFiles(volume);
}

/** A volume that lists what a test wants, whatever that is. */
function listing(entries: readonly Partial<FileEntry>[], bytes: (path: string) => string = () => ''): VolumeFiles {
  const all = entries.map((entry) => ({ path: '', kind: 'file', size: 0, modifiedAt: 0, ...entry }) as FileEntry);
  return {
    ...volumeOf({}),
    list: async (at) => (at === 'out' ? all : []),
    read: async (at) =>
      (async function* () {
        yield Buffer.from(bytes(at));
      })(),
  };
}

function deliver(files: VolumeFiles, more: Partial<DeliverOptions> = {}) {
  return deliverTree({
    sources: [{ files, from: 'out', into: '' }],
    to: target,
    owner: 'run-1',
    marker: { runId: 'run-1', pipeline: 'train', output: 'best' },
    now: Date.UTC(2026, 0, 1),
    around: [path.join(base, 'home')],
    ...more,
  });
}

const byRun = (run: string): Partial<DeliverOptions> => ({
  owner: run,
  marker: { runId: run, pipeline: 'train', output: 'best' },
});
const namesIn = (directory: string) => readdirSync(directory).sort();
const read = (name: string) => readFileSync(path.join(target, name), 'utf8');

describe('deliverTree', () => {
  test('delivers every file with its own bytes, also one with the name of a temporary file', async () => {
    const files: Record<string, string> = {};
    for (let index = 0; index < 40; index++) {
      files[`f${index}`] = `f${index}`.repeat(5000);
      files[`f${index}.sluice-part`] = `part of f${index}`;
    }
    expect(await deliver(volumeOf(files))).toEqual({ ok: true, value: [] });
    for (const [name, text] of Object.entries(files)) expect(read(name)).toBe(text);
    expect(namesIn(base)).toEqual(['results']);
  });

  test('replaces an earlier result as a whole, and names the run that it belongs to', async () => {
    await deliver(volumeOf({ 'model.bin': 'old', 'old/only.txt': 'x' }));
    await deliver(volumeOf({ 'model.bin': 'new', 'new/only.txt': 'y' }), byRun('run-2'));
    expect(namesIn(target)).toEqual([RESULT_MARKER, 'model.bin', 'new']);
    expect(read('model.bin')).toBe('new');
    const files = ['model.bin', 'new/only.txt'];
    const copiedAt = '2026-01-01T00:00:00.000Z';
    expect(await readMarker(target)).toEqual({ runId: 'run-2', pipeline: 'train', output: 'best', copiedAt, files });
    expect(namesIn(base)).toEqual(['results']);
  });

  test.each([
    ['in a result', async () => void (await deliver(volumeOf({ 'model.bin': 'old' })))],
    ['without a marker', async () => mkdirSync(target)],
  ])('does not replace a file that it has not written, %s', async (_, prepare) => {
    await prepare();
    mkdirSync(path.join(target, 'mine'));
    writeFileSync(path.join(target, 'mine', 'notes.txt'), 'by hand');
    const rejected = await deliver(volumeOf({ 'model.bin': 'new' }), byRun('run-2'));
    expect(rejected).toMatchObject({ ok: false, error: expect.stringContaining('"mine/notes.txt"') });
    expect(read('mine/notes.txt')).toBe('by hand');
  });

  test('rejects directories that have to stay, files, and outputs that have a marker of their own', async () => {
    for (const to of [base, path.join(base, 'home'), '/']) {
      expect(await deliver(volumeOf({ a: 'a' }), { to })).toMatchObject({ ok: false });
    }
    writeFileSync(target, 'a file');
    expect(await deliver(volumeOf({ a: 'a' }))).toMatchObject({
      ok: false,
      error: expect.stringContaining('not a directory'),
    });
    rmSync(target);
    const marked = await deliver(volumeOf({ [RESULT_MARKER]: 'a' }));
    expect(marked).toMatchObject({ ok: false, error: expect.stringContaining(RESULT_MARKER) });
    expect(namesIn(base)).toEqual([]);
  });

  test('follows a link to the target, and keeps the link', async () => {
    mkdirSync(path.join(base, 'disk'));
    symlinkSync('disk', target);
    await deliver(volumeOf({ a: '1' }));
    await deliver(volumeOf({ b: '2' }), byRun('run-2'));
    expect(namesIn(path.join(base, 'disk'))).toEqual([RESULT_MARKER, 'b']);
    expect(namesIn(base)).toEqual(['disk', 'results']);
  });

  test('rejects the directory of another output of the run, to which a link leads, if it is to publish', async () => {
    mkdirSync(path.join(base, 'one'));
    symlinkSync('one', target);
    const two = { marker: { runId: 'run-1', pipeline: 'train', output: 'two' } };
    await deliver(volumeOf({ a: '1' }));
    const rejected = await deliver(volumeOf({ b: '2' }), { ...two, publishes: true });
    expect(rejected).toEqual({
      ok: false,
      error: 'it holds output best of this run, perhaps through a link; name a directory of its own',
    });
    expect(namesIn(path.join(base, 'one'))).toEqual([RESULT_MARKER, 'a']);
    expect(await deliver(volumeOf({ c: '3' }), { publishes: true })).toMatchObject({ ok: true });
    expect(await deliver(volumeOf({ d: '4' }), { ...byRun('run-2'), publishes: true })).toMatchObject({ ok: true });
    expect(await deliver(volumeOf({ e: '5' }), byRun('run-1'))).toMatchObject({ ok: true });
    expect(await deliver(volumeOf({ f: '6' }), two)).toMatchObject({ ok: true });
  });

  test('says at once that a file system takes no directories', async () => {
    await expect(deliver(volumeOf({ a: '1' }), { to: '/proc/nope/deep' })).rejects.toMatchObject({ code: 'ENOENT' });
  });

  test('leaves the old result where a file comes short, comes long, or is listed out of the directory', async () => {
    await deliver(volumeOf({ 'model.bin': 'old' }));
    const wrong: [VolumeFiles, string][] = [
      [listing([{ path: 'out/a', size: 5 }], () => 'abc'), 'NO_REPLY'],
      [listing([{ path: 'out/a', size: 2 }], () => 'abc'), 'NO_REPLY'],
      [listing([{ path: 'out/../../a', size: 0 }]), 'INVALID_REPLY'],
      [listing([{ path: 'elsewhere/a', size: 0 }]), 'INVALID_REPLY'],
    ];
    for (const [files, code] of wrong) await expect(deliver(files, byRun('run-2'))).rejects.toMatchObject({ code });
    expect(namesIn(target)).toEqual([RESULT_MARKER, 'model.bin']);
    expect(namesIn(base)).toEqual(['results']);
  });

  test('keeps executable bits, names that are no UTF-8, and links that stay inside', async () => {
    const entries = [
      { path: 'out/run.sh', size: 2, executable: true },
      { path: 'out/data', size: 2, executable: false },
      { path: 'out/caf\udce9', size: 2 },
      { path: 'out/sub', kind: 'dir' as const },
      { path: 'out/latest', link: 'data' },
      { path: 'out/all', link: '.', kind: 'dir' as const },
      { path: 'out/dangling', link: 'sub/later' },
      { path: 'out/up', link: '../etc' },
      { path: 'out/abs', link: '/etc/passwd' },
      { path: 'out/around', link: 'all/sub/../../results', kind: 'dir' as const },
    ];
    const files = listing(entries, () => 'ab');
    const done = await deliver(files);
    expect(done.ok && done.value.map((warning) => warning.split(' leads')[0])).toEqual([
      'the link up -> ../etc',
      'the link abs -> /etc/passwd',
    ]);
    const found = readdirSync(target, { encoding: 'buffer' }).map((name) => name.toString('latin1'));
    expect(found).toContain('caf\xe9');
    expect(found).not.toContain('up');
    expect(statSync(path.join(target, 'run.sh')).mode & 0o111).not.toBe(0);
    expect(statSync(path.join(target, 'data')).mode & 0o111).toBe(0);
    expect(read('latest')).toBe('ab');
    // The same names again: what the marker says is what is there.
    expect(await deliver(files, byRun('run-2'))).toMatchObject({ ok: true });
  });

  test('of many that deliver to one place at once, one result is there as a whole', async () => {
    const runs = Array.from({ length: 12 }, (_, index) => `run-${index}`);
    const filesOf = (run: string) => volumeOf(Object.fromEntries(runs.map((name) => [`${run}-${name}`, run])));
    const all = await Promise.all(runs.map((run) => deliver(filesOf(run), byRun(run))));
    expect(all.filter(({ ok }) => !ok)).toEqual([]);
    const marker = await readMarker(target);
    expect(namesIn(target)).toEqual([RESULT_MARKER, ...runs.map((name) => `${marker?.runId}-${name}`)].sort());
    expect(namesIn(base)).toEqual(['results']);
  });
});
