import { mkdir, mkdtemp, rm, symlink, writeFile as writeLocal } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { ServiceError, type VolumeFiles } from '@sluice/client';
import { createSystemClock, createSystemDisk } from '@sluice/home';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createHandPlan } from '../../../run/test/plans.ts';
import { uploadSource } from '../../src/data/upload-source.ts';
import { createMemoryFiles, createMemoryVolume, type MemoryVolume } from '../simulation/memory-files.ts';
import { createRig } from '../simulation/rig.ts';

let base: string;
let volume: MemoryVolume;
beforeEach(async () => {
  base = await mkdtemp(path.join(tmpdir(), 'sluice-upload-'));
  await mkdir(path.join(base, 'raw'));
  volume = createMemoryVolume();
});
afterEach(() => rm(base, { recursive: true, force: true }));

const write = (text: string) => writeLocal(path.join(base, 'raw', 'a.txt'), text);
const upload = (
  files: VolumeFiles,
  { warn = () => {}, exclude }: { warn?: (message: string) => void; exclude?: readonly string[] } = {},
) =>
  uploadSource({
    ...(exclude && { exclude }),
    ...createRig('upload').options,
    report: (event) => event.type === 'warning' && warn(event.message),
    readSecret: () => undefined,
    home: path.join(base, 'home'),
    disk: createSystemDisk(),
    clock: createSystemClock(),
    runId: 'r',
    plan: createHandPlan([]),
    baseDir: base,
    files,
    volumeID: 'v',
    name: 'raw',
    source: './raw',
  });
const stored = () =>
  [...volume.files].filter(([file]) => file.endsWith('/a.txt')).map(([, bytes]) => Buffer.from(bytes).toString());

/** As if the upload had been interrupted before its last step. */
function uncomplete(): void {
  for (const file of [...volume.files.keys()]) if (file.endsWith('complete.json')) volume.files.delete(file);
}

describe('uploadSource', () => {
  test('sends no excluded file, and nothing again when only such files or the patterns have changed', async () => {
    const put = (file: string, text: string) => writeLocal(path.join(base, 'raw', file), text);
    await write('bytes');
    await put('b.log', 'one');
    const first = await upload(createMemoryFiles(volume), { exclude: ['*.log'] });
    const names = () => [...volume.files.keys()].map((file) => path.basename(file)).sort();
    expect(names()).toEqual(['a.txt', 'complete.json']);
    await put('b.log', 'two');
    await put('.sluiceignore', '# logs\nb.*\n');
    expect(await upload(createMemoryFiles(volume))).toEqual(first);
    expect(names()).toEqual(['a.txt', 'complete.json']);
    await put('.sluiceignore', 'b[\n');
    const message =
      'could not read the source of volume raw: line 1 of its .sluiceignore, "b[", is not a valid pattern: its `[` has no `]`; if the name has a bracket, write `\\[`';
    expect(await upload(createMemoryFiles(volume))).toEqual({ ok: false, error: { code: 'SOURCE_MISSING', message } });
  });

  test('copies the file in place of a link where the service has no links, and rejects one to a directory', async () => {
    await write('bytes');
    const raw = path.join(base, 'raw');
    await symlink('a.txt', path.join(raw, 'link'));
    await symlink('nothing', path.join(raw, 'dangling'));
    const files = createMemoryFiles(volume);
    expect(await upload(files)).toMatchObject({ ok: true });
    const names = [...volume.files].map(([file, bytes]) => [path.basename(file), Buffer.from(bytes).toString()]);
    expect(names).toContainEqual(['link', 'bytes']);
    expect(names.map(([name]) => name)).not.toContain('dangling');
    await symlink('.', path.join(raw, 'here'));
    const message = expect.stringMatching(/could not upload "here": it is a link to a directory/);
    expect(await upload(files)).toMatchObject({ ok: false, error: { message } });
  });

  test('rejects the file in place of a link if it changed after the scan', async () => {
    await write('right');
    await symlink('a.txt', path.join(base, 'raw', 'link'));
    const files = createMemoryFiles(volume);
    const changing: VolumeFiles = {
      ...files,
      async write(to, body, options) {
        if (to.endsWith('/link')) await write('wrong');
        await files.write(to, body, options);
      },
    };
    const message = 'could not upload "link": it changed while it was read; start again';
    expect(await upload(changing)).toEqual({ ok: false, error: { code: 'SOURCE_MISSING', message } });
    expect([...volume.files.keys()].filter((file) => file.endsWith('/link'))).toEqual([]);
  });

  test('leaves out a link to a file that is left out, where the service has no links', async () => {
    await write('right');
    await writeLocal(path.join(base, 'raw', '.sluice-result.json'), '{}');
    await symlink('.sluice-result.json', path.join(base, 'raw', 'link'));
    const warnings: string[] = [];
    expect(await upload(createMemoryFiles(volume), { warn: (message) => warnings.push(message) })).toMatchObject({
      ok: true,
    });
    expect(warnings).toEqual([expect.stringContaining('left out link, a link to a file that is left out')]);
    expect([...volume.files.keys()].filter((file) => file.endsWith('/link'))).toEqual([]);
  });

  test.each([
    { what: 'a small file', size: 10 },
    { what: 'a file of several pieces', size: 700_000 },
  ])('never leaves other bytes under the digest, even if it is killed right after: $what', async ({ size }) => {
    const [right, wrong] = ['r'.repeat(size), 'w'.repeat(size)];
    await write(right);
    const files = createMemoryFiles(volume);
    const killed: VolumeFiles = {
      ...files,
      // The file changes after the scan, keeps its size, and nothing can be removed any more.
      async write(to, body, options) {
        if (to.endsWith('a.txt')) await write(wrong);
        await files.write(to, body, options);
      },
      remove: async () => {
        if (volume.files.size > 1) throw new ServiceError('UNREACHABLE', 'the runner is gone');
      },
    };
    await upload(killed).catch(() => {});
    await write(right);
    expect(await upload(files)).toMatchObject({ ok: true });
    expect(stored()).toEqual([right]);
  });

  test.each([
    { what: 'other content of the same size', change: (file: string) => volume.files.set(file, Buffer.from('wrong')) },
    { what: 'a file less', change: (file: string) => volume.files.delete(file) },
  ])('continues what it had begun, and sends again what is there with $what', async ({ change }) => {
    await write('right');
    const files = createMemoryFiles(volume);
    await upload(files);
    uncomplete();
    for (const file of [...volume.files.keys()]) if (file.endsWith('/a.txt')) change(file);
    expect(await upload(files)).toMatchObject({ ok: true });
    expect(stored()).toEqual(['right']);
  });

  test('continues when a file that was there is removed meanwhile', async () => {
    await write('right');
    const files = createMemoryFiles(volume);
    await upload(files);
    uncomplete();
    const removing: VolumeFiles = {
      ...files,
      read(at, range) {
        if (at.endsWith('/a.txt')) volume.files.delete(at);
        return files.read(at, range);
      },
    };
    expect(await upload(removing)).toMatchObject({ ok: true });
    expect(stored()).toEqual(['right']);
  });

  test('continues what it had begun without sending it again', async () => {
    await write('right');
    const files = createMemoryFiles(volume);
    await upload(files);
    uncomplete();
    const sent: string[] = [];
    const counted: VolumeFiles = {
      ...files,
      async write(to, body, options) {
        sent.push(to);
        await files.write(to, body, options);
      },
    };
    expect(await upload(counted)).toMatchObject({ ok: true });
    expect(sent.filter((to) => to.endsWith('a.txt'))).toEqual([]);
  });

  test('rejects a file that changed while it was read', async () => {
    await write('right');
    const files = createMemoryFiles(volume);
    const changing: VolumeFiles = {
      ...files,
      async write(to, body, options) {
        if (to.endsWith('a.txt')) await write('wrong');
        await files.write(to, body, options);
      },
    };
    expect(await upload(changing)).toMatchObject({ ok: false, error: { code: 'SOURCE_MISSING' } });
    expect(stored()).toEqual([]);
  });
});
