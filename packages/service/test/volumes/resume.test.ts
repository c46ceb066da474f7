import { randomBytes } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { hasProgram, runClient } from './client-program.ts';
import { openCuttingProxy } from './cutting-proxy.ts';
import { openSftpRig } from './sftp/sftp-rig.ts';
import { temporaryDirectory } from './temporary-directory.ts';
import { openDavRig } from './webdav/dav-rig.ts';

const BYTES = 30_000_000;
const CUT = { left: 1, afterBytes: BYTES / 2 };

/** A directory with the file `up`. */
function workplace(): { directory: string; isSame(path: string): Promise<boolean> } {
  const directory = temporaryDirectory();
  const up = join(directory, 'up');
  writeFileSync(up, '');
  const block = randomBytes(1_000_000);
  for (let written = 0; written < BYTES; written += block.length) {
    block.writeUInt32LE(written);
    writeFileSync(up, block, { flag: 'a' });
  }
  return { directory, isSame: async (path) => (await runClient('cmp', [up, path])).code === 0 };
}

/** The half that a cut has left is the beginning of the file: without holes, and neither nothing nor all. */
function expectHalf(path: string, whole: string): void {
  // In one look: the service may still be writing down what reached it before the cut.
  const half = readFileSync(path);
  expect(half.length).toBeGreaterThan(0);
  expect(half.length).toBeLessThan(BYTES);
  expect(half.equals(readFileSync(whole).subarray(0, half.length))).toBe(true);
}

describe('a connection that breaks in the middle of a file', () => {
  test.skipIf(!hasProgram('sftp'))('is taken up again by reput and reget of OpenSSH', async () => {
    const rig = await openSftpRig();
    const proxy = await openCuttingProxy(rig.port);
    const { directory, isSame } = workplace();
    const sftp = (input: string) =>
      runClient('sftp', [...rig.sshOptions, '-b', '-', '-P', String(proxy.port), 'data@127.0.0.1'], {
        ...{ cwd: directory, env: rig.env, input: `${input}\n` },
      });
    Object.assign(proxy.cuts, CUT);
    expect((await sftp('put up there')).code).not.toBe(0);
    expectHalf(join(rig.session.root, 'there'), join(directory, 'up'));
    expect(await sftp('reput up there')).toMatchObject({ code: 0 });
    expect(await isSame(join(rig.session.root, 'there'))).toBe(true);

    Object.assign(proxy.cuts, CUT);
    expect((await sftp('get there back')).code).not.toBe(0);
    expectHalf(join(directory, 'back'), join(directory, 'up'));
    expect(await sftp('reget there back')).toMatchObject({ code: 0 });
    expect(await isSame(join(directory, 'back'))).toBe(true);
    expect(rig.errors).toEqual([]);
  });

  test.skipIf(!hasProgram('lftp'))('is taken up again by lftp by itself', async () => {
    const rig = await openSftpRig();
    const proxy = await openCuttingProxy(rig.port);
    const { directory, isSame } = workplace();
    const lftp = (command: string) => {
      const script = [
        'set sftp:auto-confirm yes',
        'set net:reconnect-interval-base 1',
        `set sftp:connect-program "ssh -a -x ${rig.sshOptions.join(' ')}"`,
        `open -u data,secret-data -p ${proxy.port} sftp://127.0.0.1`,
        command,
      ].join('; ');
      return runClient('lftp', ['-c', script], { cwd: directory, env: { HOME: directory } });
    };
    Object.assign(proxy.cuts, CUT);
    expect(await lftp('put -c up -o there')).toMatchObject({ code: 0 });
    expect(proxy.cuts.left).toBe(0);
    expect(await isSame(join(rig.session.root, 'there'))).toBe(true);
    Object.assign(proxy.cuts, CUT);
    expect(await lftp('get -c there -o back')).toMatchObject({ code: 0 });
    expect(proxy.cuts.left).toBe(0);
    expect(await isSame(join(directory, 'back'))).toBe(true);
    expect(rig.errors).toEqual([]);
  });

  test.skipIf(!hasProgram('rclone'))('is made good by rclone, which begins the file anew', async () => {
    const rig = await openSftpRig();
    const proxy = await openCuttingProxy(rig.port);
    const { directory, isSame } = workplace();
    const password = (await runClient('rclone', ['obscure', 'secret-data'])).output.trim();
    const remote = `:sftp,host=127.0.0.1,port=${proxy.port},user=data,pass=${password}:there`;
    const rclone = (...args: string[]) =>
      runClient('rclone', ['--retries-sleep', '100ms', ...args], { cwd: directory, env: { HOME: directory } });
    Object.assign(proxy.cuts, CUT);
    expect(await rclone('copyto', 'up', remote)).toMatchObject({ code: 0 });
    expect(await isSame(join(rig.session.root, 'there'))).toBe(true);
    Object.assign(proxy.cuts, CUT);
    expect(await rclone('copyto', remote, 'back')).toMatchObject({ code: 0 });
    expect(proxy.cuts.left).toBe(0);
    expect(await isSame(join(directory, 'back'))).toBe(true);
    expect(readdirSync(rig.session.root)).toEqual(['there']);
  });

  test.skipIf(!hasProgram('curl'))(
    'leaves no half file over WebDAV, and a download is taken up by its range',
    async () => {
      const rig = await openDavRig();
      const proxy = await openCuttingProxy(rig.port);
      const { directory, isSame } = workplace();
      const url = `http://127.0.0.1:${proxy.port}/there`;
      const curl = (...args: string[]) =>
        runClient('curl', ['-sS', '-f', '-u', 'data:secret-data', '-H', 'Expect:', ...args, url], { cwd: directory });
      Object.assign(proxy.cuts, CUT);
      expect((await curl('-T', 'up')).code).not.toBe(0);
      expect(existsSync(join(rig.session.root, 'there'))).toBe(false);
      expect(await curl('-T', 'up')).toMatchObject({ code: 0 });
      expect(await isSame(join(rig.session.root, 'there'))).toBe(true);
      Object.assign(proxy.cuts, CUT);
      expect((await curl('-o', 'back')).code).not.toBe(0);
      expectHalf(join(directory, 'back'), join(directory, 'up'));
      expect(await curl('-C', '-', '-o', 'back')).toMatchObject({ code: 0 });
      expect(await isSame(join(directory, 'back'))).toBe(true);
      expect(readdirSync(rig.session.root)).toEqual(['there']);
      expect(rig.errors).toEqual([]);
    },
  );
});
