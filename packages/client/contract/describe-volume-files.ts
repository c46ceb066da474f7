import { isServiceError, type ServiceErrorCode, type VolumeFiles } from '@sluice/client';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { bytes, freshId, rejected } from './rig.ts';

/** Files of a volume that the suite may use as it likes. */
export interface VolumeFilesUnderTest {
  readonly files: VolumeFiles;
  /**
   * What a reader may be told for a moment while a file is replaced, because a MOVE onto a file deletes that first
   * (RFC 4918, 9.9.3). Default: nothing.
   */
  readonly gap?: readonly ServiceErrorCode[];
  close(): Promise<void>;
}

/** Registers the tests that every implementation of `VolumeFiles` must pass. */
export function describeVolumeFiles(name: string, open: () => Promise<VolumeFilesUnderTest>): void {
  describe(`${name}, as files of a volume`, () => {
    let sut: VolumeFilesUnderTest | undefined;
    beforeAll(async () => {
      sut = await open();
    });
    afterAll(async () => {
      await sut?.close();
    });
    const underTest = () => {
      if (sut === undefined) throw new Error('The files under test did not open');
      return sut.files;
    };
    describeReading(underTest);
    describeWriting(underTest);
    describeReplacing(() => {
      underTest();
      return sut!;
    });
    describeMoving(underTest);
    describeCopying(underTest);
    describePaths(underTest);
    describeKinds(underTest);
  });
}

const text = (value: string) => Buffer.from(value);

function describeReading(open: () => VolumeFiles): void {
  it('read: gives a range, up to the end of the file', async () => {
    const files = open();
    const path = freshId('range');
    await files.write(path, text('0123456789'));
    const range = async (start?: number, end?: number) =>
      (
        await bytes(
          await files.read(path, { ...(start === undefined ? {} : { start }), ...(end === undefined ? {} : { end }) }),
        )
      ).toString();
    expect(await range()).toBe('0123456789');
    expect(await range(3)).toBe('3456789');
    expect(await range(3, 5)).toBe('34');
    expect(await range(undefined, 2)).toBe('01');
    expect(await range(8, 100)).toBe('89');
    expect(await range(10)).toBe('');
    expect(await range(50, 60)).toBe('');
    expect(await range(4, 4)).toBe('');
  });

  it('read, list: what is not there is NOT_FOUND; stat is undefined', async () => {
    const files = open();
    const path = freshId('none');
    await rejected(files.read(path), 'NOT_FOUND');
    await rejected(files.read(`${path}/deeper`), 'NOT_FOUND');
    await rejected(files.list(path), 'NOT_FOUND');
    expect(await files.stat(path)).toBeUndefined();
    expect(await files.stat(`${path}/deeper`)).toBeUndefined();
  });

  it('stat: tells files from directories, with size and time', async () => {
    const files = open();
    const dir = freshId('stat');
    await files.write(`${dir}/file`, text('12345'));
    const file = await files.stat(`${dir}/file`);
    expect(file).toMatchObject({ path: `${dir}/file`, kind: 'file', size: 5 });
    expect(Math.abs((file?.modifiedAt ?? 0) - Date.now())).toBeLessThan(600_000);
    expect(await files.stat(dir)).toMatchObject({ path: dir, kind: 'dir', size: 0 });
    expect(await files.stat('')).toMatchObject({ path: '', kind: 'dir' });
  });

  it('list: gives the entries of one level, sorted by path', async () => {
    const files = open();
    const dir = freshId('list');
    for (const name of ['b', 'a', 'c/deep', 'B']) await files.write(`${dir}/${name}`, text(name));
    const entries = await files.list(dir);
    expect(entries.map((it) => it.path)).toEqual([`${dir}/B`, `${dir}/a`, `${dir}/b`, `${dir}/c`]);
    expect(entries.map((it) => it.kind)).toEqual(['file', 'file', 'file', 'dir']);
    expect(entries.map((it) => it.size)).toEqual([1, 1, 1, 0]);
    expect((await files.list('')).map((it) => it.path)).toContain(dir);
    await files.makeDirectory(`${dir}/empty`);
    expect(await files.list(`${dir}/empty`)).toEqual([]);
  });

  it('list: of a file is rejected', async () => {
    const files = open();
    const path = freshId('plain');
    await files.write(path, text('x'));
    await rejected(files.list(path), 'INVALID_ARGUMENT');
  });
}

function describeWriting(open: () => VolumeFiles): void {
  it('write: makes the directories above and replaces a file whole', async () => {
    const files = open();
    const path = `${freshId('deep')}/a/b/c.txt`;
    await files.write(path, text('a longer first version'));
    await files.write(path, text('second'), { size: 6 });
    expect((await bytes(await files.read(path))).toString()).toBe('second');
    await files.write(path, new Uint8Array());
    expect(await files.stat(path)).toMatchObject({ kind: 'file', size: 0 });
    expect((await files.list(path.slice(0, path.lastIndexOf('/')))).map((it) => it.path)).toEqual([path]);
  });

  it('write: takes a stream, with and without its size', async () => {
    const files = open();
    const dir = freshId('stream');
    async function* pieces() {
      for (let i = 0; i < 50; i++) yield Buffer.alloc(20_000, i);
    }
    const whole = await bytes(pieces());
    await files.write(`${dir}/known`, pieces(), { size: 1_000_000 });
    await files.write(`${dir}/unknown`, pieces());
    for (const name of ['known', 'unknown']) {
      expect((await bytes(await files.read(`${dir}/${name}`))).equals(whole), name).toBe(true);
    }
    expect((await bytes(await files.read(`${dir}/known`, { start: 19_999, end: 20_001 }))).toJSON().data).toEqual([
      0, 1,
    ]);
  });

  it('write: a stream that fails leaves the old file, and nothing else', async () => {
    const files = open();
    const dir = freshId('torn');
    await files.write(`${dir}/file`, text('old'));
    async function* torn() {
      yield Buffer.alloc(100_000);
      throw new Error('the source broke');
    }
    await expect(files.write(`${dir}/file`, torn())).rejects.toThrow();
    await expect(files.write(`${dir}/other`, torn(), { size: 200_000 })).rejects.toThrow();
    expect((await bytes(await files.read(`${dir}/file`))).toString()).toBe('old');
    expect((await files.list(dir)).map((it) => it.path)).toEqual([`${dir}/file`]);
  });

  it('write: does not replace a directory', async () => {
    const files = open();
    const dir = freshId('occupied');
    await files.write(`${dir}/child`, text('x'));
    await rejected(files.write(dir, text('file')), 'INVALID_ARGUMENT');
    expect((await files.list(dir)).map((it) => it.path)).toEqual([`${dir}/child`]);
  });

  it('makeDirectory: makes all above, and nothing where it is', async () => {
    const files = open();
    const dir = freshId('made');
    await files.makeDirectory(`${dir}/x/y`);
    await files.write(`${dir}/x/y/file`, text('x'));
    await files.makeDirectory(`${dir}/x/y`);
    await files.makeDirectory('');
    expect((await files.list(`${dir}/x/y`)).map((it) => it.path)).toEqual([`${dir}/x/y/file`]);
    await rejected(files.makeDirectory(`${dir}/x/y/file`), 'INVALID_ARGUMENT');
    await rejected(files.makeDirectory(`${dir}/x/y/file/z`), 'INVALID_ARGUMENT');
    await rejected(files.write(`${dir}/x/y/file/z`, text('z')), 'INVALID_ARGUMENT');
    async function* stream() {
      yield text('z');
    }
    await rejected(files.write(`${dir}/x/y/file/z`, stream()), 'INVALID_ARGUMENT');
  });
}

function describeReplacing(open: () => VolumeFilesUnderTest): void {
  it('write: a reader sees the old file or the new one, never a part', async () => {
    const { files, gap = [] } = open();
    const path = freshId('atomic');
    const version = (letter: string) => Buffer.alloc(300_000, letter);
    await files.write(path, version('a'));
    let done = false;
    const writing = (async () => {
      for (const letter of ['b', 'c', 'd', 'e']) await files.write(path, version(letter));
      done = true;
    })();
    while (!done) {
      const seen = await files.read(path).then(bytes, (error: unknown) => {
        if (!gap.some((code) => isServiceError(error, code))) throw error;
      });
      if (seen === undefined) continue;
      expect(seen).toHaveLength(300_000);
      expect(seen.equals(version(String.fromCharCode(seen[0] ?? 0)))).toBe(true);
    }
    await writing;
  });
}

function describeMoving(open: () => VolumeFiles): void {
  it('move: renames files and directories and makes the directories above', async () => {
    const files = open();
    const dir = freshId('move');
    await files.write(`${dir}/from/a`, text('a'));
    await files.move(`${dir}/from`, `${dir}/new/place/to`);
    expect((await bytes(await files.read(`${dir}/new/place/to/a`))).toString()).toBe('a');
    expect(await files.stat(`${dir}/from`)).toBeUndefined();
    await files.move(`${dir}/new/place/to/a`, `${dir}/b`);
    expect((await files.list(dir)).map((it) => it.path)).toEqual([`${dir}/b`, `${dir}/new`]);
  });

  it('move: without a source is NOT_FOUND, onto something is ALREADY_EXISTS, and changes nothing', async () => {
    const files = open();
    const dir = freshId('nomove');
    await files.write(`${dir}/a`, text('a'));
    await files.write(`${dir}/d/b`, text('b'));
    await rejected(files.move(`${dir}/none`, `${dir}/x`), 'NOT_FOUND');
    await rejected(files.move(`${dir}/a`, `${dir}/d`), 'ALREADY_EXISTS');
    await rejected(files.move(`${dir}/d`, `${dir}/a`), 'ALREADY_EXISTS');
    await rejected(files.move(`${dir}/a`, `${dir}/d/b`), 'ALREADY_EXISTS');
    await rejected(files.move(`${dir}/a`, `${dir}/a`), 'INVALID_ARGUMENT');
    await rejected(files.move(`${dir}/d`, `${dir}/d/e`), 'INVALID_ARGUMENT');
    await rejected(files.move(`${dir}/d`, `${dir}/a/e`), 'INVALID_ARGUMENT');
    expect((await bytes(await files.read(`${dir}/a`))).toString()).toBe('a');
    expect((await bytes(await files.read(`${dir}/d/b`))).toString()).toBe('b');
  });

  it('remove: takes files and whole directories, and does not mind what is not there', async () => {
    const files = open();
    const dir = freshId('remove');
    await files.write(`${dir}/a/b/c`, text('c'));
    await files.write(`${dir}/file`, text('f'));
    await files.remove(`${dir}/file`);
    await files.remove(`${dir}/a`);
    await files.remove(`${dir}/a`);
    await files.remove(`${dir}/never/was`);
    expect(await files.list(dir)).toEqual([]);
  });
}

function describeCopying(open: () => VolumeFiles): void {
  it('copy: takes files and whole directories, and makes the directories above the target', async () => {
    const files = open();
    const dir = freshId('copy');
    await files.write(`${dir}/from/a`, text('a'));
    await files.write(`${dir}/from/deep/b`, text('b'));
    await files.makeDirectory(`${dir}/from/empty`);
    await files.copy(`${dir}/from`, `${dir}/new/place/to`);
    await files.copy(`${dir}/from/a`, `${dir}/c`);
    expect((await bytes(await files.read(`${dir}/new/place/to/deep/b`))).toString()).toBe('b');
    expect((await bytes(await files.read(`${dir}/c`))).toString()).toBe('a');
    expect(await files.list(`${dir}/new/place/to/empty`)).toEqual([]);
    expect((await files.list(`${dir}/new/place`)).map((it) => it.path)).toEqual([`${dir}/new/place/to`]);
    await files.write(`${dir}/c`, text('changed'));
    await files.remove(`${dir}/new/place/to/a`);
    expect((await bytes(await files.read(`${dir}/from/a`))).toString()).toBe('a');
  });

  it('copy: without a source is NOT_FOUND, onto something is ALREADY_EXISTS, and changes nothing', async () => {
    const files = open();
    const dir = freshId('nocopy');
    await files.write(`${dir}/a`, text('a'));
    await files.write(`${dir}/d/b`, text('b'));
    await rejected(files.copy(`${dir}/none`, `${dir}/x`), 'NOT_FOUND');
    await rejected(files.copy(`${dir}/a`, `${dir}/d`), 'ALREADY_EXISTS');
    await rejected(files.copy(`${dir}/d`, `${dir}/a`), 'ALREADY_EXISTS');
    await rejected(files.copy(`${dir}/a`, `${dir}/d/b`), 'ALREADY_EXISTS');
    await rejected(files.copy(`${dir}/a`, `${dir}/a`), 'INVALID_ARGUMENT');
    await rejected(files.copy(`${dir}/d`, `${dir}/d/e`), 'INVALID_ARGUMENT');
    await rejected(files.copy(`${dir}/d`, `${dir}/a/e`), 'INVALID_ARGUMENT');
    expect((await files.list(dir)).map((it) => it.path)).toEqual([`${dir}/a`, `${dir}/d`]);
    expect((await files.list(`${dir}/d`)).map((it) => it.path)).toEqual([`${dir}/d/b`]);
  });
}

function describePaths(open: () => VolumeFiles): void {
  it.each([
    'with space',
    'ümlaut-é',
    '100%',
    'a+b&c=d',
    '#hash?query',
    'quote\'"',
    'semi;colon:',
    '日本語',
    '[x]{y}',
    '~',
  ])('names: %j is a name like any other', async (name) => {
    const files = open();
    const dir = freshId('names');
    await files.write(`${dir}/${name}/${name}`, text(name));
    expect((await files.list(dir)).map((it) => it.path)).toEqual([`${dir}/${name}`]);
    expect((await files.list(`${dir}/${name}`)).map((it) => it.path)).toEqual([`${dir}/${name}/${name}`]);
    await files.move(`${dir}/${name}/${name}`, `${dir}/moved ${name}`);
    expect((await bytes(await files.read(`${dir}/moved ${name}`))).toString()).toBe(name);
  });

  it.each(['../x', 'a/../../x', './a', 'a/./b', '/etc/passwd', 'a//b', 'a/', 'a\0b', '..', '.'])(
    'paths: %j is rejected everywhere',
    async (path) => {
      const files = open();
      await rejected(files.stat(path), 'INVALID_ARGUMENT');
      await rejected(files.list(path), 'INVALID_ARGUMENT');
      await rejected(files.read(path), 'INVALID_ARGUMENT');
      await rejected(files.write(path, text('x')), 'INVALID_ARGUMENT');
      await rejected(files.makeDirectory(path), 'INVALID_ARGUMENT');
      await rejected(files.move(path, 'x'), 'INVALID_ARGUMENT');
      await rejected(files.move('x', path), 'INVALID_ARGUMENT');
      await rejected(files.copy(path, 'x'), 'INVALID_ARGUMENT');
      await rejected(files.copy('x', path), 'INVALID_ARGUMENT');
      await rejected(files.remove(path), 'INVALID_ARGUMENT');
    },
  );

  it('paths: the root can be neither written, copied, moved nor removed', async () => {
    const files = open();
    await rejected(files.write('', text('x')), 'INVALID_ARGUMENT');
    await rejected(files.move('', 'x'), 'INVALID_ARGUMENT');
    await rejected(files.copy('', 'x'), 'INVALID_ARGUMENT');
    await rejected(files.remove(''), 'INVALID_ARGUMENT');
  });
}

function describeKinds(open: () => VolumeFiles): void {
  it('names: those that are no UTF-8 keep their bytes, and are others than those of equal letters', async () => {
    const files = open();
    const dir = freshId('bytes');
    const names = ['caf\udce9', 'caf\u00e9', '\udcff\udcfe', 'caf\ufffd'];
    for (const name of names) await files.write(`${dir}/${name}/${name}`, text(`of ${names.indexOf(name)}`));
    const listed = (await files.list(dir)).map((it) => it.path);
    expect([...listed].sort()).toEqual(names.map((name) => `${dir}/${name}`).sort());
    for (const name of names) {
      expect((await bytes(await files.read(`${dir}/${name}/${name}`))).toString()).toBe(`of ${names.indexOf(name)}`);
    }
    await files.move(`${dir}/caf\udce9`, `${dir}/moved\udc80`);
    expect((await files.stat(`${dir}/moved\udc80/caf\udce9`))?.kind).toBe('file');
    for (const wrong of ['\ud800', '\udcc3\udca9']) await rejected(files.stat(`${dir}/${wrong}`), 'INVALID_ARGUMENT');
  });

  it('executable: is told of a file that was written so, where the service tells it at all', async () => {
    const files = open();
    const dir = freshId('mode');
    await files.write(`${dir}/plain`, text('a'), { executable: false });
    await files.write(`${dir}/program`, text('b'), { executable: true });
    const told = (await files.list(dir)).map(({ executable }) => executable);
    expect([
      [false, true],
      [undefined, undefined],
    ]).toContainEqual(told);
  });

  it('link: keeps its target, is told apart in a list, and reads as what it leads to', async () => {
    const files = open();
    const dir = freshId('link');
    await files.write(`${dir}/sub/file`, text('read'));
    if (!(await files.link(`${dir}/deep/er/link`, '../../sub'))) return;
    expect(await files.link(`${dir}/deep/er/link`, '../../sub')).toBe(true);
    expect(await files.link(`${dir}/later`, 'not/y%t/\udcff')).toBe(true);
    expect((await bytes(await files.read(`${dir}/deep/er/link/file`))).toString()).toBe('read');
    const listed = [...(await files.list(dir)), ...(await files.list(`${dir}/deep/er`))];
    expect(listed.map(({ path, kind, link }) => [path.slice(dir.length + 1), kind, link])).toEqual([
      ['deep', 'dir', undefined],
      ['later', 'file', 'not/y%t/\udcff'],
      ['sub', 'dir', undefined],
      ['deep/er/link', 'dir', '../../sub'],
    ]);
    await expect(files.link(`${dir}/out`, '../../../../etc/passwd')).rejects.toSatisfy((error) =>
      isServiceError(error),
    );
    await files.remove(`${dir}/later`);
    await files.remove(`${dir}/deep/er/link`);
    expect((await files.list(`${dir}/sub`)).length).toBe(1);
  });
}
