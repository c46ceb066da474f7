import {
  chmodSync,
  chownSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openDavRig } from './dav-rig.ts';

/** A volume with `a/d/f`, and `alias`, a link to `a`. */
async function rigWithAlias() {
  const rig = await openDavRig();
  mkdirSync(join(rig.session.root, 'a/d'), { recursive: true });
  writeFileSync(join(rig.session.root, 'a/d/f'), 'data');
  symlinkSync('a', join(rig.session.root, 'alias'));
  const run = async (method: string, from: string, destination: string) =>
    (await rig.send(method, from, { headers: { destination } })).status;
  return { ...rig, run };
}

test('COPY and MOVE see that one place has two paths, and lose nothing by it', async () => {
  const { run, session, errors } = await rigWithAlias();
  for (const method of ['COPY', 'MOVE']) {
    expect(await run(method, '/a/d', '/alias/d')).toBe(403);
    expect(await run(method, '/alias/d', '/a')).toBe(403);
    expect(await run(method, '/alias/d/f', '/a/d')).toBe(403);
    expect(await run(method, '/a/d/f', '/alias/d/f')).toBe(403);
    expect(await run(method, '/a/d', '/alias/d/inside')).toBe(403);
  }
  expect(readFileSync(join(session.root, 'a/d/f'), 'utf8')).toBe('data');
  expect(readdirSync(session.root)).toEqual(['a', 'alias']);
  expect(errors).toEqual([]);
});

test('MOVE of one name of a file over another takes the first away', async () => {
  const { run, session } = await rigWithAlias();
  linkSync(join(session.root, 'a/d/f'), join(session.root, 'second'));
  expect(await run('MOVE', '/second', '/a/d/f')).toBe(204);
  expect(readdirSync(session.root)).toEqual(['a', 'alias']);
  expect(readFileSync(join(session.root, 'a/d/f'), 'utf8')).toBe('data');
});

test('COPY and MOVE replace a directory by a file and a file by a directory, and leave nothing behind', async () => {
  const { run, session } = await rigWithAlias();
  writeFileSync(join(session.root, 'file'), 'file');
  expect(await run('COPY', '/file', '/a/d')).toBe(204);
  expect(readFileSync(join(session.root, 'a/d'), 'utf8')).toBe('file');
  expect(await run('MOVE', '/a', '/file')).toBe(204);
  expect(readdirSync(session.root)).toEqual(['alias', 'file']);
  expect(readdirSync(join(session.root, 'file'))).toEqual(['d']);
});

test.runIf(process.getuid?.() === 0)(
  'COPY gives what it makes to the owner of the directory, without rights of root',
  async () => {
    const { run, session } = await rigWithAlias();
    mkdirSync(join(session.root, 'user'));
    chownSync(join(session.root, 'user'), 4711, 4712);
    chmodSync(join(session.root, 'a/d/f'), 0o4755);
    expect(await run('COPY', '/a', '/user/copy')).toBe(201);
    for (const path of ['', 'd', 'd/f']) {
      expect(statSync(join(session.root, 'user/copy', path))).toMatchObject({ uid: 4711, gid: 4712 });
    }
    expect(statSync(join(session.root, 'user/copy/d/f')).mode & 0o7777).toBe(0o755);
  },
);

test('COPY replaces nothing that came while it copied, unless it may', async () => {
  const { session, send } = await rigWithAlias();
  for (let index = 0; index < 300; index += 1) writeFileSync(join(session.root, `a/${index}`), '');
  const copying = send('COPY', '/a', { headers: { destination: '/b', overwrite: 'F' } });
  while (readdirSync(session.root).length === 2) await new Promise((resolve) => setImmediate(resolve));
  mkdirSync(join(session.root, 'b'));
  expect((await copying).status).toBe(412);
  expect(readdirSync(session.root)).toEqual(['a', 'alias', 'b']);
  expect((await send('COPY', '/a', { headers: { destination: '/b', depth: '1' } })).status).toBe(400);
});
