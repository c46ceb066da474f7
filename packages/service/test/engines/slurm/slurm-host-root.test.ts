import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { slurmConfigSchema } from '../../../src/engines/slurm/slurm-config.ts';
import { createSlurmEngine } from '../../../src/engines/slurm/slurm-engine.ts';
import { EngineRig } from '../engine-rig.ts';
import { hasSlurm, slurm, slurmSubject, withProgram } from './slurm-rig.ts';

/** Ways out of a root that was only changed, and of a mask that was only put over. */
const ATTACKS = `
storage=$1
look() { cat "$storage/secret" "$1$storage/secret" 2>/dev/null; }
look
umount "$storage" 2>/dev/null; umount -l "$storage" 2>/dev/null; look
unshare --user --map-root-user --mount sh -c "umount -l '$storage'; cat '$storage/secret'" 2>/dev/null
for process in 1 self $PPID; do look "/proc/$process/root"; look "/proc/$process/cwd/../../../.."; done
mkdir /tmp/jail
chroot /tmp/jail /bin/true 2>/dev/null
perl -e 'chdir "/"; chroot "/tmp/jail"; chdir ".." for 1..64; chroot "."; exec "/bin/cat", $ARGV[0]' "$storage/secret" 2>/dev/null
ls -A "$storage"
echo over
`;

describe.skipIf(!hasSlurm && process.env.CI !== 'true')('Slurm engine with the node as image', () => {
  let storage: string;
  let rig: EngineRig;

  beforeAll(async () => {
    // Not beneath /tmp, of which each container has its own.
    storage = await mkdtemp('/var/tmp/sluice-storage-');
    await writeFile(join(storage, 'secret'), 'of another account');
    const config = slurmConfigSchema.parse({ pollInterval: '200ms', recordGrace: '2000ms' });
    const subject = { ...slurmSubject({}), directory: storage };
    rig = new EngineRig(
      () => createSlurmEngine(config, { storage, maskedPaths: [storage, '/no/such/place'] }),
      subject,
    );
    await rig.open();
  });
  afterAll(async () => {
    await rig.close();
    await rm(storage, { recursive: true, force: true });
  });

  it('hides the storage, and gives no way back to it', async () => {
    const container = await rig.run(ATTACKS, { args: [storage] });
    expect(await container.text()).toBe('over\n');
  });

  it('still mounts volumes of that storage', async () => {
    const root = await rig.makeDirectory('volume');
    const mounts = [{ root, subPath: '', kind: 'dir' as const, target: '/v' }];
    const container = await rig.run('echo kept >/v/f; ls -A "$1"', { mounts, args: [storage] });
    expect(await container.text()).toBe('');
    expect(await rig.read('volume/f')).toBe('kept\n');
  });

  it.each([
    ['beside the storage', (path: string) => `${path}-beside`],
    ['at the storage', (path: string) => path],
    ['at a directory of the storage', (path: string) => join(path, 'hidden')],
    ['below the storage', (path: string) => join(path, 'new/deep')],
  ])('makes a mount point %s, and shows nothing else of it', async (_, at) => {
    mkdirSync(join(storage, 'hidden'), { recursive: true });
    const target = at(storage);
    const volume = `volume-${target.length}`;
    const mounts = [{ root: await rig.makeDirectory(volume), subPath: '', kind: 'dir' as const, target }];
    const script = 'echo kept >"$1/f"; [ "$1" = "$2" ] || touch "$2/x"; find "$2" -type f 2>/dev/null; echo over';
    const container = await rig.run(script, { mounts, args: [target, storage] });
    const lines = (await container.text()).split('\n').filter((line) => !line.startsWith('touch: '));
    expect(lines).toEqual([...(target.startsWith(`${storage}-`) ? [] : [`${target}/f`]), 'over', '']);
    expect(await rig.read(`${volume}/f`)).toBe('kept\n');
  });

  it("hides the scripts of the node's jobs", async () => {
    const pattern = /^SlurmdSpoolDir *= (.*)$/m.exec(slurm('scontrol', 'show', 'config'))![1]!;
    const script = 'echo "${1%%%*}"* >&2; ls -A "${1%%%*}"*; echo over';
    const container = await rig.run(script, { args: [pattern] });
    expect(await container.text()).not.toContain('job');
    expect(await container.text()).toContain('over\n');
  });

  it('passes variables with any text', async () => {
    const KEY = 'a\r\nINPUT\n\x01\x7f$x`y`\\\\é\n\n';
    const LONG = 'l'.repeat(100_000);
    const env = { KEY, LONG, OTHER: LONG };
    const container = await rig.run('printf %s "$KEY"; printf %s "$LONG$OTHER" | wc -c', { env });
    expect(await container.text()).toBe(`${KEY}200000\n`);
  });

  it.skipIf(process.geteuid?.() !== 0)('does not show the sockets of daemons, which would obey', async () => {
    const name = `sluice-${process.pid}.socket`;
    const server = createServer().listen(join('/run', name));
    await once(server, 'listening');
    try {
      const container = await rig.run(`ls -A /run /var/run/; ls /dev`);
      expect(await container.text()).not.toContain(name);
      expect(await container.text()).toContain('null');
    } finally {
      server.close();
    }
  });

  it.each(['munge/socket.2', 'run/munge.socket.2'])("hides Munge's socket at %s, outside /run", async (name) => {
    const above = mkdtempSync('/var/tmp/sluice-auth-');
    const path = join(above, name);
    mkdirSync(dirname(path));
    const server = createServer().listen(path);
    await once(server, 'listening');
    await rig.leave();
    try {
      await withProgram('scontrol', `echo 'AuthInfo                = socket=${path}'; exit 0`, async () => {
        await rig.start();
        const container = await rig.run('test -S "$1" && echo visible; test -d "$(dirname "$1")" && echo over', {
          args: [path],
        });
        expect(await container.text()).toBe('over\n');
        await rig.leave();
      });
    } finally {
      server.close();
      await rig.start();
      rmSync(above, { recursive: true });
    }
  });

  it.skipIf(process.geteuid?.() !== 0)('makes mount points beside others and beside mounts of the host', async () => {
    const above = mkdtempSync('/var/tmp/sluice-above-');
    for (const name of ['a', 'host/further']) mkdirSync(join(above, name), { recursive: true });
    execFileSync('mount', ['-t', 'tmpfs', 'tmpfs', join(above, 'host/further')]);
    try {
      const mounts = await Promise.all(
        ['a', 'b'].map(async (name) => {
          const root = await rig.makeDirectory(`beside-${name}`);
          return { root, subPath: '', kind: 'dir' as const, target: join(above, name) };
        }),
      );
      const script = 'for n in a b host/further; do echo kept >"$1/$n/f"; done 2>/dev/null; cat "$1/a/f" "$1/b/f"';
      const container = await rig.run(script, { mounts, args: [above] });
      expect(await container.text()).toBe('kept\nkept\n');
      expect([await rig.read('beside-a/f'), await rig.read('beside-b/f')]).toEqual(['kept\n', 'kept\n']);
      expect(existsSync(join(above, 'host/further/f'))).toBe(false);
    } finally {
      execFileSync('umount', [join(above, 'host/further')]);
      rmSync(above, { recursive: true });
    }
  });
});
