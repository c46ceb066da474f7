import { randomBytes } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { hasProgram, runClient } from '../client-program.ts';
import { temporaryDirectory, temporaryMountPoint } from '../temporary-directory.ts';
import { openSftpRig } from './sftp-rig.ts';

/** Seconds since the epoch. */
const LONG_AGO = 1_000_000_000;

function tree(): string {
  const directory = temporaryDirectory();
  mkdirSync(join(directory, 'a b/ü'), { recursive: true });
  for (let index = 0; index < 100; index += 1) writeFileSync(join(directory, `f${index}`), randomBytes(index * 1_000));
  // Within the present second lftp sees no difference, and sets nothing.
  utimesSync(join(directory, 'f7'), LONG_AGO, LONG_AGO);
  writeFileSync(join(directory, 'a b', 'c&d #1.txt'), 'odd name');
  writeFileSync(join(directory, 'a b/ü', 'large'), randomBytes(5_000_000));
  return directory;
}

async function differences(left: string, right: string): Promise<string> {
  return (await runClient('diff', ['-r', left, right])).output;
}

describe('createSftpServer with real clients', () => {
  test.skipIf(!hasProgram('sftp'))('OpenSSH puts, resumes, renames, links, sets attributes and removes', async () => {
    const rig = await openSftpRig();
    const directory = temporaryDirectory();
    const bytes = randomBytes(3_000_000);
    writeFileSync(join(directory, 'up'), bytes);
    writeFileSync(join(directory, 'back'), bytes.subarray(0, 1_000_000));
    writeFileSync(join(rig.session.root, 'half'), bytes.subarray(0, 2_000_000));
    const input = [
      'mkdir d',
      'put -p up d/f',
      'reput up half',
      'reget d/f back',
      'rename d/f d/g',
      'put up d/f',
      'rename d/f d/g',
      'chmod 640 d/g',
      'symlink g d/link',
      'ln d/g d/hard',
      'ls -l d',
      'df',
      'rm d/hard',
      '-symlink /etc/passwd d/out',
      '-get d/../../../../etc/passwd stolen',
      'bye',
    ].join('\n');
    const run = await runClient('sftp', [...rig.sshOptions, '-b', '-', '-P', String(rig.port), 'data@127.0.0.1'], {
      cwd: directory,
      env: rig.env,
      input,
    });
    expect(run).toEqual({ code: 0, output: expect.any(String) });
    expect(readFileSync(join(rig.session.root, 'half')).equals(bytes)).toBe(true);
    expect(readFileSync(join(directory, 'back')).equals(bytes)).toBe(true);
    expect(readdirSync(join(rig.session.root, 'd'))).toEqual(['g', 'link']);
    expect(statSync(join(rig.session.root, 'd/g')).mode & 0o777).toBe(0o640);
    expect(readFileSync(join(rig.session.root, 'd/link')).equals(bytes)).toBe(true);
    expect(readdirSync(directory)).not.toContain('stolen');
    expect(rig.errors).toEqual([]);
  });

  test.skipIf(!hasProgram('lftp'))('lftp mirrors a tree both ways', async () => {
    const rig = await openSftpRig();
    const from = tree();
    const to = temporaryDirectory();
    const script = [
      'set sftp:auto-confirm yes',
      `set sftp:connect-program "ssh -a -x ${rig.sshOptions.join(' ')}"`,
      `open -u data,secret-data -p ${rig.port} sftp://127.0.0.1`,
      `mirror -R --parallel=4 "${from}" up`,
      `mirror --parallel=4 up "${to}"`,
      'bye',
    ].join('; ');
    const run = await runClient('lftp', ['-c', script], { env: { HOME: temporaryDirectory() } });
    expect(run).toEqual({ code: 0, output: expect.any(String) });
    expect(await differences(from, join(rig.session.root, 'up'))).toBe('');
    expect(await differences(from, to)).toBe('');
    expect(statSync(join(to, 'f7')).mtimeMs).toBe(LONG_AGO * 1_000);
    expect(rig.errors).toEqual([]);
  });

  test.skipIf(!hasProgram('rclone'))('rclone copies a tree both ways and finds it equal', async () => {
    const rig = await openSftpRig();
    const from = tree();
    const to = temporaryDirectory();
    const env = {
      RCLONE_CONFIG: join(to, 'none.conf'),
      RCLONE_CONFIG_V_TYPE: 'sftp',
      RCLONE_CONFIG_V_HOST: '127.0.0.1',
      RCLONE_CONFIG_V_PORT: String(rig.port),
      RCLONE_CONFIG_V_USER: 'data',
      RCLONE_CONFIG_V_PASS: (await runClient('rclone', ['obscure', 'secret-data'])).output.trim(),
    };
    const rclone = (...args: string[]) => runClient('rclone', args, { env });
    expect(await rclone('copy', from, 'v:tree')).toMatchObject({ code: 0 });
    expect(await rclone('check', '--download', from, 'v:tree')).toMatchObject({ code: 0 });
    expect(await rclone('copy', 'v:tree', join(to, 'back'))).toMatchObject({ code: 0 });
    expect(await differences(from, join(to, 'back'))).toBe('');
    expect(await rclone('moveto', 'v:tree', 'v:elsewhere')).toMatchObject({ code: 0 });
    expect(await rclone('purge', 'v:elsewhere')).toMatchObject({ code: 0 });
    expect(readdirSync(rig.session.root)).toEqual([]);
    expect(rig.errors).toEqual([]);
  });

  const mountable = process.getuid?.() === 0 && hasProgram('sshfs');
  test.skipIf(!mountable)('sshfs works like a disk', async () => {
    const rig = await openSftpRig();
    const point = temporaryMountPoint();
    const mounted = await runClient(
      'sshfs',
      ['data@127.0.0.1:/', point, '-p', String(rig.port), '-opassword_stdin', ...rig.sshOptions],
      { input: 'secret-data\n' },
    );
    expect(mounted).toMatchObject({ code: 0 });
    // In a process of its own: a call to the mount here would wait for the server in this very process.
    const script = [
      'mkdir d && cd d',
      'echo hello > f && cat f && cp f g && mv f g && echo more >> g && cat g',
      'ln -s g link && cat link && chmod 600 g && stat -c %a g',
      'dd if=/dev/urandom of=large bs=1M count=8 2>/dev/null && cp large copy && cmp large copy',
      'truncate -s 5 copy && stat -c %s copy',
      'rm large copy && ls',
    ].join('\n');
    const run = await runClient('sh', ['-ec', `cd ${point}\n${script}`]);
    expect(run).toEqual({ code: 0, output: 'hello\nhello\nmore\nhello\nmore\n600\n5\ng\nlink\n' });
    expect(await runClient('umount', [point])).toMatchObject({ code: 0 });
    expect(readFileSync(join(rig.session.root, 'd/g'), 'utf8')).toBe('hello\nmore\n');
    expect(rig.errors).toEqual([]);
  });
});
