import { execFile } from 'node:child_process';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { Mount } from '../../src/engines/engine.ts';
import type { EngineRig } from './engine-rig.ts';

const run = promisify(execFile);
const isRoot = process.getuid?.() === 0;

function at(target: string, mount: Partial<Mount> & { root: string }): Mount {
  return { subPath: '', kind: 'dir', target, ...mount };
}

/**
 * All that a container may try in order to write to `$1/f`, with whatever of these programs it has. Each runs in a shell
 * of its own, since some would end the script.
 */
const ATTACKS = `
attack() { (eval "$1") >/dev/null 2>&1; (echo changed >>/in/f) >/dev/null 2>&1; (echo changed >/in/new) >/dev/null 2>&1; }
attack 'mount -o remount,rw /in'
attack 'mount -o remount,bind,rw /in'
attack 'mount --bind /in /tmp && mount -o remount,bind,rw /tmp && echo changed >>/tmp/f'
attack 'mkdir -p /tmp/b && mount --bind /in /tmp/b; mount -o remount,bind,rw /tmp/b; echo changed >>/tmp/b/f'
attack 'umount /in; echo changed >>/in/f'
attack 'umount -l /in; echo changed >>/in/f'
for as in --user "--user --map-root-user" ""; do
  attack "unshare $as --mount sh -c 'mount -o remount,rw /in; mount -o remount,bind,rw /in; echo changed >>/in/f'"
  attack "unshare $as --mount sh -c 'mkdir /tmp/n; mount --rbind /in /tmp/n; mount -o remount,bind,rw /tmp/n; echo changed >>/tmp/n/f'"
  attack "unshare $as --mount sh -c 'umount -l /in; echo changed >>/in/f'"
done
for process in 1 self $$ $PPID; do
  attack "echo changed >>/proc/$process/root/in/f"
  attack "for it in /proc/$process/fd/*; do echo changed >>$it/f; done"
  attack "nsenter --target $process --mount sh -c 'mount -o remount,rw /in; echo changed >>/in/f'"
done
while read -r _ _ _ from point _; do
  case $from in */secure*) attack "echo changed >>'$from/f'; echo changed >>'$point/f'" ;; esac
done </proc/self/mountinfo
attack 'chmod 777 /in; chmod 666 /in/f; echo changed >>/in/f'
attack 'ln /in/f /tmp/link && echo changed >>/tmp/link'
attack 'mv /in/f /in/g; rm -f /in/f; touch -d @0 /in/f; truncate -s 0 /in/f'
attack 'exec 3<>/in/f; echo changed >&3'
cat /in/f
`;

/** Mounts that a container must not be able to change. */
export function describeReadOnly(rig: EngineRig): void {
  describe('read-only mounts', () => {
    test('are announced', () => {
      expect(rig.engine.features).toContain('read-only-mounts');
    });

    test('are read like others and reject every change, as directory and as file, beside writable ones', async () => {
      const volume = await rig.makeDirectory('kept');
      await rig.makeDirectory('kept/sub');
      await rig.write('kept/sub/f', 'data\n', 0o666);
      const script = `cat /in/f /file; for change in 'echo x >/in/f' 'echo x >>/file' 'touch /in/new' 'mkdir /in/d' 'rm -f /in/f' \
        'mv /in/f /in/g' 'chmod 600 /in/f' 'ln -s x /in/link'; do if sh -c "$change" 2>/dev/null; then echo "changed by $change"; fi; done
        (echo x >/in/f) 2>&1 | grep -c -i 'read-only file system'; echo written >/out/f`;
      const container = await rig.run(script, {
        mounts: [
          at('/in', { root: volume, subPath: 'sub', readOnly: true }),
          at('/file', { root: volume, subPath: 'sub/f', kind: 'file', readOnly: true }),
          at('/out', { root: await rig.makeDirectory('kept-out') }),
        ],
      });
      expect(await container.text()).toBe('data\ndata\n1\n');
      expect(await container.end()).toEqual({ kind: 'exited', exitCode: 0 });
      expect(await rig.read('kept/sub/f')).toBe('data\n');
      expect(await readdir(join(volume, 'sub'))).toEqual(['f']);
      expect(await rig.read('kept-out/f')).toBe('written\n');
    });

    test('may hold others, and may lie in others, each by its own wish', async () => {
      const outer = await rig.makeDirectory('nest-outer');
      for (const name of ['one', 'two']) await rig.makeDirectory(`nest-outer/${name}`);
      await rig.makeDirectory('nest-outer/one/deep');
      await rig.write('nest-outer/single', '');
      const mounts = [
        at('/in', { root: outer, readOnly: true }),
        at('/in/one', { root: await rig.makeDirectory('nest-one') }),
        at('/in/two', { root: await rig.makeDirectory('nest-two'), readOnly: true }),
        at('/rw', { root: await rig.makeDirectory('nest-rw') }),
        at('/rw/kept', { root: outer, readOnly: true }),
      ];
      const tries = ['/in/f', '/in/one/f', '/in/two/f', '/rw/f', '/rw/kept/f', '/rw/kept/one/f'];
      const container = await rig.run('for f in "$@"; do (echo x >$f) 2>/dev/null && echo $f; done; true', {
        mounts,
        args: tries,
      });
      expect((await container.text()).split('\n')).toEqual(['/in/one/f', '/rw/f', '']);
      expect((await readdir(outer)).sort()).toEqual(['one', 'single', 'two']);
      expect(await readdir(join(outer, 'one'))).toEqual(['deep']);
    });

    test('cannot be made writable from inside, neither by root nor in namespaces of its own', async () => {
      const volume = await rig.makeDirectory('secure');
      await rig.write('secure/f', 'safe\n', 0o666);
      const container = await rig.run(ATTACKS, { mounts: [at('/in', { root: volume, readOnly: true })] });
      expect(await container.text()).toBe('safe\n');
      expect(await container.end()).toEqual({ kind: 'exited', exitCode: 0 });
      expect(await rig.read('secure/f')).toBe('safe\n');
      expect(await readdir(volume)).toEqual(['f']);
    });

    test.runIf(isRoot)('hold for what is mounted in the volume on the host, too', async () => {
      const volume = await rig.makeDirectory('submounts');
      const inner = await rig.makeDirectory('submounts/inner');
      await run('mount', ['-t', 'tmpfs', '-o', 'mode=777', 'tmpfs', inner]);
      onTestFinished(async () => {
        await run('umount', ['-l', inner]);
      });
      await rig.write('submounts/inner/f', 'safe\n', 0o666);
      // What is mounted before a service starts all engines see; what comes later depends on the machine.
      await rig.leave();
      await rig.start();
      const container = await rig.run('echo x >>/in/inner/f; echo x >/in/inner/new; true', {
        mounts: [at('/in', { root: volume, readOnly: true })],
      });
      // An engine that cannot bind such a volume may say so.
      expect(['exited', 'rejected']).toContain((await container.end()).kind);
      expect(await rig.read('submounts/inner/f')).toBe('safe\n');
      expect(await readdir(inner)).toEqual(['f']);
    });
  });
}
