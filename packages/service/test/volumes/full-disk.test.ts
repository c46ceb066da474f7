import { spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { hasProgram, runClient } from './client-program.ts';
import { openSftpRig } from './sftp/sftp-rig.ts';
import { temporaryDirectory } from './temporary-directory.ts';
import { openDavRig } from './webdav/dav-rig.ts';

const isRoot = process.getuid?.() === 0;
const DISK_BYTES = 4 * 1024 * 1024;
const OLD = randomBytes(1_000_000);

/** Puts a small file system where a volume's files are, with an old file on it. */
function fillable(root: string): void {
  mkdirSync(root, { recursive: true });
  expect(spawnSync('mount', ['-t', 'tmpfs', '-o', `size=${DISK_BYTES}`, 'tmpfs', root]).status).toBe(0);
  onTestFinished(() => {
    spawnSync('umount', ['-l', root]);
  });
  writeFileSync(join(root, 'file'), OLD);
}

describe.skipIf(!isRoot)('an upload that fills the disk', () => {
  const large = () => {
    const file = join(temporaryDirectory(), 'large');
    writeFileSync(file, randomBytes(2 * DISK_BYTES));
    return file;
  };

  test.skipIf(!hasProgram('curl'))(
    'is answered with 507 over WebDAV, and leaves the old file and nothing else',
    async () => {
      const rig = await openDavRig();
      fillable(rig.session.root);
      const from = large();
      const put = (...options: string[]) =>
        runClient('curl', [
          ...['-sS', '-u', 'data:secret-data', '-o', '/dev/null', '-w', '%{http_code}', '-T', from, ...options],
          `${rig.url}/file`,
        ]);
      expect(await put()).toEqual({ code: 0, output: '507' });
      expect(await put('-H', 'Expect:', '-H', 'Transfer-Encoding: chunked')).toEqual({ code: 0, output: '507' });
      expect(readdirSync(rig.session.root)).toEqual(['file']);
      expect(readFileSync(join(rig.session.root, 'file')).equals(OLD)).toBe(true);
      rmSync(join(rig.session.root, 'file'));
      expect((await rig.send('PUT', '/file', { body: 'fits' })).status).toBe(201);
      expect(rig.errors).toEqual([]);
    },
  );

  test.skipIf(!hasProgram('sftp'))('is rejected over SFTP, and the session goes on', async () => {
    const rig = await openSftpRig();
    fillable(rig.session.root);
    const input = [`-put ${large()} other`, 'rm other', 'ls', 'bye'].join('\n');
    const run = await runClient('sftp', [...rig.sshOptions, '-b', '-', '-P', String(rig.port), 'data@127.0.0.1'], {
      env: rig.env,
      input,
    });
    expect(run).toEqual({ code: 0, output: expect.stringMatching(/ENOSPC|Failure/) });
    expect(readdirSync(rig.session.root)).toEqual(['file']);
    expect(readFileSync(join(rig.session.root, 'file')).equals(OLD)).toBe(true);
  });
});
