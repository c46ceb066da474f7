import { randomBytes } from 'node:crypto';
import { chmodSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test, vi } from 'vitest';
import { hasProgram, runClient } from '../client-program.ts';
import { temporaryDirectory, temporaryMountPoint } from '../temporary-directory.ts';
import { openDavRig } from './dav-rig.ts';

/** Files of several sizes, names that need quoting, and a directory in a directory. */
function tree(): string {
  const directory = temporaryDirectory();
  mkdirSync(join(directory, 'a b/ü'), { recursive: true });
  for (let index = 0; index < 20; index += 1) writeFileSync(join(directory, `f${index}`), randomBytes(index * 1_000));
  writeFileSync(join(directory, 'a b', 'c&d #1 %20.txt'), 'odd name');
  writeFileSync(join(directory, 'a b/ü', 'large'), randomBytes(5_000_000));
  return directory;
}

describe('createWebDavHandler with real clients', () => {
  test.skipIf(!hasProgram('curl'))('curl uploads, resumes a download, and lists', async () => {
    const rig = await openDavRig();
    const directory = temporaryDirectory();
    const bytes = randomBytes(3_000_000);
    writeFileSync(join(directory, 'up'), bytes);
    writeFileSync(join(directory, 'down'), bytes.subarray(0, 1_000_000));
    const curl = (...args: string[]) =>
      runClient('curl', ['-sS', '-f', '-u', 'data:secret-data', ...args], { cwd: directory });
    expect(await curl('-T', 'up', `${rig.url}/file`)).toMatchObject({ code: 0 });
    expect(await curl('-C', '-', '-o', 'down', `${rig.url}/file`)).toMatchObject({ code: 0 });
    expect(readFileSync(join(directory, 'down')).equals(bytes)).toBe(true);
    expect((await curl('-X', 'PROPFIND', '-H', 'Depth: 1', `${rig.url}/`)).output).toContain('<D:href>/file</D:href>');
  });

  test.skipIf(!hasProgram('cadaver'))('cadaver makes, puts, locks, sets properties, moves and removes', async () => {
    const rig = await openDavRig();
    const home = temporaryDirectory();
    writeFileSync(join(home, '.netrc'), 'machine 127.0.0.1\nlogin data\npassword secret-data\n', { mode: 0o600 });
    writeFileSync(join(home, 'local'), 'from cadaver');
    const input = [
      'mkcol d',
      'put local d/f',
      'lock d/f',
      'put local d/f',
      'unlock d/f',
      'propset d/f colour red',
      'propget d/f colour',
      'chexec + d/f',
      'move d/f d/g',
      'copy d/g d/h',
      'ls d',
      'get d/g back',
      'delete d/h',
      'quit',
      '',
    ].join('\n');
    const run = await runClient('cadaver', [`${rig.url}/`], { cwd: home, env: { HOME: home }, input });
    expect(run.output).not.toMatch(/failed|error/i);
    expect(readFileSync(join(home, 'back'), 'utf8')).toBe('from cadaver');
    expect(readdirSync(join(rig.session.root, 'd'))).toEqual(['g']);
    expect(run.output).toContain('red');
  });

  test.skipIf(!hasProgram('rclone'))('rclone copies a tree both ways and finds it equal', async () => {
    const rig = await openDavRig();
    const from = tree();
    const to = temporaryDirectory();
    const password = (await runClient('rclone', ['obscure', 'secret-data'])).output.trim();
    const env = {
      RCLONE_CONFIG: join(to, 'none.conf'),
      RCLONE_CONFIG_V_TYPE: 'webdav',
      RCLONE_CONFIG_V_URL: `${rig.url}/`,
      RCLONE_CONFIG_V_VENDOR: 'other',
      RCLONE_CONFIG_V_USER: 'data',
      RCLONE_CONFIG_V_PASS: password,
      // Its default leaves 10 ms between calls.
      RCLONE_CONFIG_V_PACER_MIN_SLEEP: '1ms',
    };
    const rclone = (...args: string[]) => runClient('rclone', args, { env });
    expect(await rclone('copy', from, 'v:tree')).toMatchObject({ code: 0 });
    expect(await rclone('check', '--download', from, 'v:tree')).toMatchObject({ code: 0 });
    expect(await rclone('copy', 'v:tree', join(to, 'back'))).toMatchObject({ code: 0 });
    expect(await rclone('moveto', 'v:tree', 'v:elsewhere')).toMatchObject({ code: 0 });
    expect(await rclone('purge', 'v:elsewhere')).toMatchObject({ code: 0 });
    expect((await runClient('diff', ['-r', from, join(to, 'back')])).output).toBe('');
    expect(readdirSync(rig.session.root)).toEqual([]);
  });

  const mountable = process.getuid?.() === 0 && hasProgram('mount.davfs');
  test.skipIf(!mountable)('davfs2 mounts, writes, reads, renames and removes', async () => {
    const rig = await openDavRig();
    const directory = temporaryDirectory();
    const point = temporaryMountPoint();
    const cache = join(directory, 'cache');
    mkdirSync(cache);
    // Its daemon gives up being root.
    chmodSync(directory, 0o711);
    chmodSync(cache, 0o777);
    const secrets = join(directory, 'secrets');
    const configuration = join(directory, 'davfs2.conf');
    writeFileSync(secrets, `${rig.url}/ data secret-data\n`, { mode: 0o600 });
    // Newer kernels ask for listings in larger pieces than davfs2's own default can hold, and ls says EINVAL.
    const settings = ['delay_upload 0', 'use_locks 1', 'buf_size 64'];
    writeFileSync(configuration, [`secrets ${secrets}`, `cache_dir ${cache}`, ...settings, ''].join('\n'));
    const mounted = await runClient('mount.davfs', [`${rig.url}/`, point, '-o', `conf=${configuration}`]);
    expect(mounted).toEqual({ code: 0, output: '' });
    // In a process of its own: a call to the mount here would wait for the server in this very process.
    const shell = (script: string) => runClient('sh', ['-ec', `cd ${point}; ${script}`]);
    const wrote = await shell(
      'mkdir d; echo hello > d/f; cp d/f d/g; mv d/g d/h; rm d/f; ls d; cat d/h; stat -c %s d/h',
    );
    expect(wrote).toEqual({ code: 0, output: 'h\nhello\n6\n' });
    // Without the helper of davfs2, which also waits for the end of the daemon: once that took more than two minutes.
    expect(await runClient('umount', ['-i', point])).toMatchObject({ code: 0 });
    const stored = () => expect(readFileSync(join(rig.session.root, 'd/h'), 'utf8')).toBe('hello\n');
    await vi.waitFor(stored, { timeout: 30_000 });
  });
});
